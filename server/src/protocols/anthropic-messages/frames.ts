import { isObject, type JsonObject, parseObject } from '../../kit/json-value.ts';
import type { SseFrame } from '../../kit/sse-frames.ts';
import { CLOSING, CONTENT, DONE, ERROR, PREAMBLE } from '../frame-meanings.ts';
import type { FrameMeaning, StreamRules } from '../protocol.ts';
import { textInMembers } from '../streamed-text.ts';
import { inputUsage, outputUsage } from './usage.ts';

/** https://docs.anthropic.com/en/api/messages-streaming */
export const messagesStream: StreamRules = {
  noteworthy: /^event: ?(?:message_|error)|"type"\s*:\s*"(?:message_|error")/m,
  // `message_start` has the input, `message_delta` the output; newer ones repeat the input, without its parts.
  usage: 'cumulative',
  readFrame,
  textBytes: textInMembers(['text', 'thinking', 'partial_json']),
};

function readFrame(frame: SseFrame): FrameMeaning {
  if (frame.data === '') return PREAMBLE;
  if (frame.event === 'error') return ERROR;
  const payload = parseObject(frame.data);
  // Data that is not a JSON object is relayed as content: the client decides what it means.
  if (payload === null) return CONTENT;
  switch (payload['type'] ?? frame.event) {
    case 'error':
      return ERROR;
    case 'ping':
    case 'content_block_stop':
      return PREAMBLE;
    case 'message_start':
      // Its count of the output is that of the first token.
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

function closing(payload: JsonObject): FrameMeaning {
  const { usage } = payload;
  const { cacheWrite5mTokens: _5m, cacheWrite1hTokens: _1h, ...input } = inputUsage(usage) ?? {};
  const counts = { ...input, ...outputUsage(usage) };
  const kind = typeof objectIn(payload, 'delta')['stop_reason'] === 'string' ? CLOSING : PREAMBLE;
  return { ...kind, usage: Object.keys(counts).length === 0 ? null : counts };
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
