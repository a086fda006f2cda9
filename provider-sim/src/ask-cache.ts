import type { Ask } from './ask.ts';
import { type BodyOperation, type ReadContext, type ReadResult, readRequest } from './read-request.ts';
import type { ReportedUsage } from './request-log.ts';

const entriesMax = 512;
const bodyBytesMax = 4096;

export interface CachedRead {
  result: ReadResult;
  /** The plain answer, made once; null where a fault, a stream or a refusal makes it a case of its own. */
  plain: PlainAnswer | null;
}

export interface PlainAnswer {
  /** The body's bytes as latin1 text, which leaves in one write together with the head. */
  latin1: string;
  /** The head's fields after the request id. */
  fields: string[];
  promptTokens: number;
  completionTokens: number;
  usage: ReportedUsage | null;
}

/**
 * Remembers small bodies it has read: reading is a pure function of the bytes, and a benchmark sends the
 * same ones again and again. Bounded; the oldest goes first.
 */
export function createAskCache(
  context: ReadContext,
): (operation: BodyOperation, bytes: Buffer) => CachedRead {
  const cached = new Map<string, CachedRead>();
  return (operation, bytes) => {
    if (bytes.length > bodyBytesMax) return { result: readRequest(operation, bytes, context), plain: null };
    const name = operation + bytes.toString('latin1');
    const known = cached.get(name);
    if (known !== undefined) return known;
    const result = readRequest(operation, bytes, context);
    const fresh: CachedRead = { result, plain: plainAnswer(result) };
    const oldest = cached.size >= entriesMax ? cached.keys().next().value : undefined;
    if (oldest !== undefined) cached.delete(oldest);
    cached.set(name, fresh);
    return fresh;
  };
}

function plainAnswer({ ask }: ReadResult): PlainAnswer | null {
  if (ask === null || ask.fault !== null || ask.stream) return null;
  const answer = ask.answer({});
  const bytes = Buffer.from(answer.body());
  const length = String(bytes.length);
  return {
    latin1: bytes.toString('latin1'),
    fields: [...versionOf(ask), 'content-type', 'application/json', 'content-length', length],
    promptTokens: answer.promptTokens,
    completionTokens: answer.completionTokens,
    usage: answer.reported,
  };
}

function versionOf({ operation }: Ask): string[] {
  return operation === 'messages' || operation === 'count_tokens' ? [] : ['openai-version', '2020-10-01'];
}
