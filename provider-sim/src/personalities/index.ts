import { type Fault, isRecord } from '../fault.ts';
import { azure, groq, mistral } from './clouds.ts';
import { deepseek } from './deepseek.ts';
import { gemini } from './gemini.ts';
import { openrouter } from './openrouter.ts';
import { type Personality, returnedIn, thoughtOf } from './personality.ts';
import { llamacpp, tgi, vllm } from './servers.ts';

const personalities = { azure, deepseek, gemini, groq, llamacpp, mistral, openrouter, tgi, vllm };

export type PersonalityName = keyof typeof personalities;

export const personalityNames = Object.keys(personalities) as PersonalityName[];

const STEPS = /\bsteps=(\d+)/;
const FAILS = /\bfails=(\d+) ([^"\\]*)/;

/**
 * Answers as this provider would. A request with tools gets calls of the first of them for as many steps as its prompt says
 * (`steps=2`), and then words; `fails=STATUS MESSAGE` gets that error.
 */
export function personalityFault(name: PersonalityName, bytes: Buffer, stream: boolean): Fault {
  const personality: Personality = personalities[name];
  const text = bytes.toString('utf8');
  const [, status, message] = FAILS.exec(text) ?? [];
  if (status !== undefined)
    return { status: Number(status), body: personality.error(Number(status), message ?? '') };
  const request: unknown = JSON.parse(text);
  const { messages, tools, model } = isRecord(request) ? request : {};
  const returned = returnedIn(Array.isArray(messages) ? messages : []);
  for (const [step, each] of returned.entries()) {
    const missing = personality.missing?.(each, step) ?? null;
    if (missing !== null) return { status: 400, body: personality.error(400, missing) };
  }
  const steps = Number(STEPS.exec(text)?.[1] ?? '1');
  const tool = Array.isArray(tools) && isRecord(tools[0]) ? tools[0]['function'] : undefined;
  const step = returned.length;
  const called = isRecord(tool) && step < steps ? String(tool['name']) : null;
  const turn = {
    step,
    model: String(model),
    thought: thoughtOf(step),
    calls:
      called === null
        ? []
        : personality.callIds(step).map((id, index) => ({
            id,
            name: called,
            arguments: JSON.stringify({ at: `${step}.${index}` }),
          })),
    text: called === null ? `Done after ${step} steps.` : '',
  };
  return stream ? { rawFrames: personality.frames(turn) } : { body: personality.whole(turn) };
}
