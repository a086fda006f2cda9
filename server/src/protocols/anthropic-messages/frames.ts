import type { Usage } from '../../domain/money/usage.ts';
import { isObject, type JsonObject, parseObject } from '../../kit/json-value.ts';
import type { SseFrame } from '../../kit/sse-frames.ts';
import { CLOSING, CONTENT, DONE, ERROR, KEEP_ALIVE, PREAMBLE, unreadable } from '../frame-meanings.ts';
import type { FrameMeaning, StreamRules } from '../protocol.ts';
import { textInMembers } from '../streamed-text.ts';
import { inputUsage, outputUsage } from './usage.ts';

/** https://docs.anthropic.com/en/api/messages-streaming */
const STOPPED: FrameMeaning = { ...CLOSING, finished: [0] };
const textMembers = new Set(['text', 'thinking', 'partial_json']);

export const messagesStream: StreamRules = {
  // The frames that begin and end a block have no text, but are as long as frames with text.
  noteworthy:
    /^event: ?(?:message_|error|content_block_st)|"type"\s*:\s*"(?:message_|error"|content_block_st)/m,
  // The tier is part of the usage.
  noteworthyWithTier: null,
  readFrame,
  textBytes: textInMembers(textMembers),
  textMembers,
  notText: null,
};

function readFrame(frame: SseFrame): FrameMeaning {
  if (frame.data === '') return KEEP_ALIVE;
  const payload = parseObject(frame.data);
  if (frame.event === 'error') return error(payload ?? {});
  if (payload === null) return unreadable(frame.data);
  switch (payload['type'] ?? frame.event) {
    case 'error':
      return error(payload);
    case 'ping':
      return KEEP_ALIVE;
    case 'content_block_stop':
      return PREAMBLE;
    case 'message_start':
      // `message_start` has the input; its output count is that of the first token.
      return { ...PREAMBLE, usage: inputUsage(objectIn(payload, 'message')['usage']) };
    case 'content_block_start':
      return saysNothing(objectIn(payload, 'content_block')) ? PREAMBLE : CONTENT;
    case 'message_delta':
      return closing(payload);
    case 'message_stop':
      return DONE;
    default:
      return CONTENT;
  }
}

function error(payload: JsonObject): FrameMeaning {
  return { ...ERROR, usage: repeatedUsage(payload) };
}

function closing(payload: JsonObject): FrameMeaning {
  const meaning = typeof objectIn(payload, 'delta')['stop_reason'] === 'string' ? STOPPED : PREAMBLE;
  return { ...meaning, usage: repeatedUsage(payload) };
}

/** `message_delta` has the output. In newer versions it repeats the input, without its parts. */
function repeatedUsage({ usage }: JsonObject): Partial<Usage> | null {
  const { cacheWrite5mTokens: _5m, cacheWrite1hTokens: _1h, ...input } = inputUsage(usage) ?? {};
  const counts = { ...input, ...outputUsage(usage) };
  return Object.keys(counts).length === 0 ? null : counts;
}

/** A block of text or thinking begins empty. One of another type says what it is, such as the tool that is called. */
function saysNothing({ type, text, thinking }: JsonObject): boolean {
  if (type === 'text') return text === undefined || text === '';
  return type === 'thinking' && (thinking === undefined || thinking === '');
}

function objectIn(payload: JsonObject, name: string): JsonObject {
  const value = payload[name];
  return isObject(value) ? value : {};
}
