import { isObject, type JsonObject } from '../../kit/json-value.ts';
import type { SseFrame } from '../../kit/sse-frames.ts';
import { CLOSING, CONTENT, ERROR, PREAMBLE } from '../frame-meanings.ts';
import { frameReader, hasError } from '../openai/frames.ts';
import { parseUsage } from '../openai/usage.ts';
import type { FrameMeaning, StreamRules } from '../protocol.ts';
import { textInMembers } from '../streamed-text.ts';

/** Events that announce structure before the first piece of text or arguments. */
const PREAMBLE_TYPES = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
]);
/** Its deltas are base64. */
const SOUND = /"type"\s*:\s*"response\.(?:output_)?audio\.delta"/;
const deltaBytes = textInMembers(['delta']);
const END_TYPES = new Set(['response.completed', 'response.incomplete']);
const ERROR_TYPES = new Set(['response.failed', 'error']);

export const responsesStream: StreamRules = {
  noteworthy: /"response\.(?:completed|incomplete|failed)"|"error"|^event: ?error|\.done"/m,
  usage: 'last',
  readFrame: frameReader(readPayload),
  textBytes: (frame) => (SOUND.test(frame) ? 0 : deltaBytes(frame)),
};

function readPayload(payload: JsonObject, { event }: SseFrame): FrameMeaning {
  const type = typeof payload['type'] === 'string' ? payload['type'] : (event ?? '');
  if (ERROR_TYPES.has(type) || (type === '' && hasError(payload))) return ERROR;
  if (PREAMBLE_TYPES.has(type)) return PREAMBLE;
  if (type.endsWith('.done')) return CLOSING;
  if (!END_TYPES.has(type)) return CONTENT;
  const response = payload['response'];
  const usage = isObject(response) ? parseUsage(response['usage'], response['service_tier']) : null;
  return { kind: 'done', usage, usageOnly: false };
}
