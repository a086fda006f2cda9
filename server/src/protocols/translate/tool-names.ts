import { hash } from 'node:crypto';
import type { AnswerWriter, ModelEvent } from './model-events.ts';

/** The longest name of a tool that chat completions accept. Messages accept longer ones. */
const NAME_LENGTH_MAX = 64;
/** The longest id of a call that OpenAI's chat completions accept. */
const CALL_ID_LENGTH_MAX = 40;
const DIGEST_LENGTH = 8;

/** The name of a tool that every provider accepts. It depends on nothing else: earlier calls have to get the same name. */
export function shortName(name: string): string {
  return shortened(name, NAME_LENGTH_MAX);
}

/** The id of a call for chat completions, the same for the call and its result. */
export function shortCallId(id: string): string {
  return shortened(id, CALL_ID_LENGTH_MAX);
}

function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const digest = hash('sha256', text, 'hex').slice(0, DIGEST_LENGTH);
  return `${text.slice(0, lengthMax - DIGEST_LENGTH - 1)}_${digest}`;
}

/** The writer, with the client's own names of the tools that have a shorter one at the provider. */
export function withLongNames(writer: AnswerWriter, names: readonly string[]): AnswerWriter {
  const long = new Map(names.map((name) => [shortName(name), name]));
  for (const [sent, name] of long) if (sent === name) long.delete(sent);
  if (long.size === 0) return writer;
  const named = (events: readonly ModelEvent[]): readonly ModelEvent[] =>
    events.map((event) =>
      event.kind === 'tool_call' ? { ...event, name: long.get(event.name) ?? event.name } : event,
    );
  return {
    get failure() {
      return writer.failure;
    },
    frames: (events) => writer.frames(named(events)),
    whole: (events) => writer.whole(named(events)),
  };
}
