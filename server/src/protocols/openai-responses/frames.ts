import type { Usage } from '../../domain/money/usage.ts';
import { type JsonObject, objectOf } from '../../kit/json-value.ts';
import type { SseFrame } from '../../kit/sse-frames.ts';
import { CLOSING, CONTENT, DONE, ERROR, KEEP_ALIVE, PREAMBLE } from '../frame-meanings.ts';
import { frameReader, hasError } from '../openai/frames.ts';
import { parseUsage } from '../openai/usage.ts';
import type { FrameMeaning, StreamRules } from '../protocol.ts';
import { tierSaid } from '../service-tier.ts';
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
const textMembers = new Set(['delta']);
const deltaBytes = textInMembers(textMembers);
const END_TYPES = new Set(['response.completed', 'response.incomplete']);
const ERROR_TYPES = new Set(['response.failed', 'error']);

export const responsesStream: StreamRules = {
  noteworthy:
    /"response\.(?:completed|incomplete|failed)"|"usage"\s*:\s*\{|"error"|^event: ?error|\.(?:done|added)"/m,
  // Only frames with the response name a tier, and all of them are read.
  noteworthyWithTier: null,
  readFrame: frameReader(usageIn, readPayload),
  textBytes: (frame) => (SOUND.test(frame) ? 0 : deltaBytes(frame)),
  textMembers,
  notText: SOUND,
};

function readPayload(payload: JsonObject, { event }: SseFrame): FrameMeaning {
  const type = typeof payload['type'] === 'string' ? payload['type'] : (event ?? '');
  const reported = { usage: usageIn(payload), ...tierSaid(objectOf(payload['response'])['service_tier']) };
  if (ERROR_TYPES.has(type) || (type === '' && hasError(payload))) return { ...ERROR, ...reported };
  if (PREAMBLE_TYPES.has(type)) return { ...PREAMBLE, ...reported };
  // Not in OpenAI's reference, but sent while a model thinks.
  if (type === 'keepalive') return KEEP_ALIVE;
  if (type.endsWith('.done')) return CLOSING;
  return END_TYPES.has(type) ? { ...DONE, ...reported } : CONTENT;
}

/** An `error` frame may report usage beside the error. */
function usageIn({ response, usage }: JsonObject): Partial<Usage> | null {
  return parseUsage(objectOf(response)['usage'] ?? usage);
}
