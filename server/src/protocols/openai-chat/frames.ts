import { isObject, type JsonObject } from '../../kit/json-value.ts';
import { CLOSING, CONTENT, ERROR, PREAMBLE } from '../frame-meanings.ts';
import { frameReader, hasError } from '../openai/frames.ts';
import { parseUsage } from '../openai/usage.ts';
import type { FrameMeaning, StreamRules } from '../protocol.ts';
import { textInMembers } from '../streamed-text.ts';

export const chatStream: StreamRules = {
  noteworthy: /\[DONE\]|"usage"\s*:\s*[^\sn]|"error"\s*:|^event: ?error|"finish_reason"\s*:\s*"/m,
  usage: 'last',
  readFrame: frameReader(readPayload),
  textBytes: textInMembers([
    'content',
    'refusal',
    'reasoning',
    'reasoning_content',
    'thinking',
    'text',
    'name',
    'arguments',
    'transcript',
  ]),
};

function readPayload(payload: JsonObject): FrameMeaning {
  if (hasError(payload)) return ERROR;
  const usage = parseUsage(payload['usage'] ?? groqUsage(payload), payload['service_tier']);
  const choices = payload['choices'];
  if (!Array.isArray(choices)) return { ...CONTENT, usage };
  // Also a usage that cannot be read: a client that did not ask for one expects no frame without choices.
  if (choices.length === 0) return { kind: 'preamble', usage, usageOnly: payload['usage'] != null };
  if (!choices.every(saysNothing)) return { ...CONTENT, usage };
  return choices.some(finishes) ? { ...CLOSING, usage } : { ...PREAMBLE, usage };
}

/** Groq reports usage in the last frame with a choice, whether or not it was asked for. */
function groqUsage({ x_groq: extra }: JsonObject): unknown {
  return isObject(extra) ? extra['usage'] : null;
}

function finishes(choice: unknown): boolean {
  return isObject(choice) && choice['finish_reason'] !== null && choice['finish_reason'] !== undefined;
}

/** A delta with only a role, or with fields that are empty. */
function saysNothing(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  const delta = choice['delta'];
  if (!isObject(delta)) return delta === undefined || delta === null;
  return Object.entries(delta).every(([name, value]) => name === 'role' || isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}
