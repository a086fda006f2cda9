import type { Play } from '@relay/provider-sim';
import { chatFrames } from '../../harness/played/chat-frames.ts';
import { messagesFrames } from '../../harness/played/messages-frames.ts';
import type { PlayedTurn } from '../../harness/played/played-turn.ts';
import { responsesFrames } from '../../harness/played/responses-frames.ts';
import { chatWhole, messagesWhole, responsesWhole } from '../../harness/played/whole-turn.ts';
import {
  inputsOfStep,
  lastWords,
  PIXEL,
  resultOf,
  type Scenario,
  STRUCTURED,
  scenarios,
  TOOL,
  turnsOf,
} from './scenarios.ts';

const MARK = /\[\[(\w+)\]\]/;
const PROTOCOLS = [
  { path: '/messages', frames: messagesFrames, whole: messagesWhole },
  { path: '/chat/completions', frames: chatFrames, whole: chatWhole },
  { path: '/responses', frames: responsesFrames, whole: responsesWhole },
];

/** The model of the matrix. It has no state: what it says follows from the request, as a model's words do. */
export const playLoop: Play = ({ path, model, stream }, body) => {
  const text = body.toString();
  const scenario = scenarios.find((each) => each === MARK.exec(text)?.[1]);
  const protocol = PROTOCOLS.find((each) => path.endsWith(each.path));
  if (scenario === undefined || protocol === undefined) return null;
  const turn = turnAfter(scenario, JSON.parse(text) as Request);
  if (stream) return protocol.frames(turn, model ?? '');
  return { bodyBase64: Buffer.from(protocol.whole(turn, model ?? '')).toString('base64') };
};

interface Request {
  readonly tool_choice?: unknown;
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
}

function turnAfter(scenario: Scenario, request: Request): PlayedTurn {
  const said = new Set(
    stringsOf(request).flatMap((text) => text.match(/the result of step \d+ part \d+ is "\d+" ü/g) ?? []),
  );
  const steps = [...said].map((result) => Number(/step (\d+)/.exec(result)?.[1]));
  const number = steps.reduce((most, step) => Math.max(most, step), -1) + 1;
  const done = Array.from({ length: number }, (_, step) => inputsOfStep(step)).flat();
  const lost = done.map(resultOf).filter((result) => !said.has(result));
  const thought = scenario === 'thinking' ? `Step ${number}: I should look — “closely”.` : null;
  if (lost.length > 0) return { number, thought, text: `The request lacks: ${lost.join('; ')}`, calls: [] };
  if (number < turnsOf(scenario)) {
    const text = number % 4 === 0 ? `Now comes part ${number}: größer.` : null;
    const name = toolNamed(request, TOOL);
    const calls = inputsOfStep(number).map((input) => ({
      id: `call_${number}_${input.part}`,
      name,
      input: { ...input },
    }));
    return { number, thought, text, calls };
  }
  if (scenario === 'structured' && isForced(request.tool_choice)) {
    const call = { id: 'call_structured', name: toolNamed(request), input: STRUCTURED };
    return { number, thought, text: null, calls: [call] };
  }
  const isBlind = scenario === 'image' && !stringsOf(request).some((text) => text.includes(PIXEL));
  return { number, thought, text: isBlind ? 'I see nothing.' : lastWords(scenario), calls: [] };
}

/** A client asks for structured output with a tool that the model has to call. */
function isForced(choice: unknown): boolean {
  if (typeof choice === 'string') return choice === 'required';
  const type = typeof choice === 'object' && choice !== null && 'type' in choice ? choice.type : null;
  return type === 'tool' || type === 'function' || type === 'any';
}

/** The tool of this name, or the first one. */
function toolNamed({ tools = [] }: Request, wanted?: string): string {
  const names = tools.map(({ name, function: of }) => name ?? of?.name ?? '');
  return names.find((name) => name === wanted) ?? names[0] ?? 'no_tool_was_sent';
}

/** Every string of the request, also those inside of tool results that are JSON themselves. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') {
    const inner = /^["[{]/.test(value) ? parsed(value) : value;
    return inner === value ? [value] : [value, ...stringsOf(inner)];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
