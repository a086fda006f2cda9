import type { Usage } from '../../domain/money/usage.ts';
import { isEmpty, isObject, type JsonObject } from '../../kit/json-value.ts';
import { CLOSING, CONTENT, ERROR, PREAMBLE } from '../frame-meanings.ts';
import { frameReader, hasError } from '../openai/frames.ts';
import { parseUsage } from '../openai/usage.ts';
import type { FrameMeaning, StreamRules } from '../protocol.ts';
import { OTHER_TIER, tierSaid } from '../service-tier.ts';
import { textInMembers } from '../streamed-text.ts';

const NOTEWORTHY = /\[DONE\]|"usage"\s*:\s*[^\sn]|"error"\s*:|^event: ?error|"finish_reason"\s*:\s*"[^"]/m;

const NONE: readonly number[] = [];
const textMembers = new Set([
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'thinking',
  'text',
  'name',
  'arguments',
  'transcript',
]);

export const chatStream: StreamRules = {
  noteworthy: NOTEWORTHY,
  noteworthyWithTier: new RegExp(`${NOTEWORTHY.source}|${OTHER_TIER}`, 'm'),
  readFrame: frameReader(usageIn, readPayload),
  textBytes: textInMembers(textMembers),
  textMembers,
  notText: null,
};

function readPayload(payload: JsonObject): FrameMeaning {
  const reported = { usage: usageIn(payload), ...tierSaid(payload['service_tier']) };
  if (hasError(payload)) return { ...ERROR, ...reported };
  const choices = payload['choices'];
  if (!Array.isArray(choices)) return { ...CONTENT, ...reported };
  // Also a usage that cannot be read: a client that did not ask for one expects no frame without choices.
  if (choices.length === 0) return { ...PREAMBLE, ...reported, usageOnly: payload['usage'] != null };
  const finished = choices.flatMap(finishedIn);
  const isSilent = choices.every(saysNothing);
  if (finished.length > 0) return { ...(isSilent ? CLOSING : CONTENT), ...reported, finished };
  return { ...(isSilent ? PREAMBLE : CONTENT), ...reported };
}

function usageIn(payload: JsonObject): Partial<Usage> | null {
  return parseUsage(payload['usage'] ?? groqUsage(payload));
}

/** Groq reports usage in the last frame with a choice, whether or not it was asked for. */
function groqUsage({ x_groq: extra }: JsonObject): unknown {
  return isObject(extra) ? extra['usage'] : null;
}

/** The index of a choice that ends here. Some providers write an empty reason until then. */
function finishedIn(choice: unknown): readonly number[] {
  if (!isObject(choice) || isEmpty(choice['finish_reason'])) return NONE;
  const index = choice['index'];
  return [typeof index === 'number' ? index : 0];
}

/** A delta with only a role, or with fields that are empty. */
function saysNothing(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  const delta = choice['delta'];
  if (!isObject(delta)) return delta === undefined || delta === null;
  return Object.entries(delta).every(([name, value]) => name === 'role' || isEmpty(value));
}
