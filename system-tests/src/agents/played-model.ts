import type { Play } from '@relay/provider-sim';
import { chatFrames } from '../harness/played/chat-frames.ts';
import { messagesFrames } from '../harness/played/messages-frames.ts';
import type { PlayedTurn } from '../harness/played/played-turn.ts';
import { responsesFrames } from '../harness/played/responses-frames.ts';
import { type Step, stepAskedFor, type TaskCall } from './task.ts';

/** How a client calls its tools. */
export type ToolWords = (call: TaskCall) => { readonly name: string; readonly input: object };

export interface PlayedTask {
  readonly steps: readonly Step[];
  readonly toolWords: ToolWords;
  /** The steps that were asked for. */
  readonly asked: Set<number>;
  /** What a request lacks, though the client has done it. */
  readonly missing: string[];
}

export interface PlayedModel {
  readonly play: Play;
  /** From now on, these models of the provider play the task. */
  begin(models: readonly string[], steps: readonly Step[], toolWords: ToolWords): PlayedTask;
}

const framesOf = [
  { path: '/messages', frames: messagesFrames },
  { path: '/chat/completions', frames: chatFrames },
  { path: '/responses', frames: responsesFrames },
];

/** Plays the model of each task: says the step that follows those in the request, in the protocol that was asked. */
export function createPlayedModel(): PlayedModel {
  const tasks = new Map<string, PlayedTask>();
  return {
    play({ path, model, stream }, bytes) {
      if (!stream) return null;
      const task = tasks.get(model ?? '');
      const frames = framesOf.find((each) => path.endsWith(each.path))?.frames;
      if (task === undefined || frames === undefined) return null;
      const body = bytes.toString();
      const number = stepAskedFor(body);
      const step = task.steps[number];
      if (step === undefined) return null;
      task.asked.add(number);
      const done = task.steps.slice(0, number).flatMap(({ calls }) => calls);
      const lacking = done.filter(({ result }) => !body.includes(result));
      task.missing.push(...lacking.map(({ id }) => `step ${number} lacks the result of ${id}`));
      return frames(turnOf(step, task.toolWords), model ?? '');
    },
    begin(models, steps, toolWords) {
      const task: PlayedTask = { steps, toolWords, asked: new Set(), missing: [] };
      for (const model of models) tasks.set(model, task);
      return task;
    },
  };
}

function turnOf({ number, thought, text, calls }: Step, toolWords: ToolWords): PlayedTurn {
  return { number, thought, text, calls: calls.map((call) => ({ id: call.id, ...toolWords(call) })) };
}
