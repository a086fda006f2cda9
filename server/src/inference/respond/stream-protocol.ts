import { parseUsage, type Usage } from '../../domain/money/usage.ts';
import type { Operation } from '../../domain/routing/operation.ts';
import type { SseFrame } from './sse-frames.ts';

/** What one frame means for the gateway; the client gets its bytes whatever it means. */
export interface FrameMeaning {
  /**
   * `preamble` carries nothing a reader could use, so the stream may still be replaced by another;
   * `closing` ends what was said and adds nothing to it; `done` is the protocol's own end; `error` is the provider saying that it failed.
   */
  readonly kind: 'preamble' | 'content' | 'closing' | 'done' | 'error';
  readonly usage: Usage | null;
  /** A frame that exists only because usage was asked for. */
  readonly usageOnly: boolean;
}

const PREAMBLE: FrameMeaning = { kind: 'preamble', usage: null, usageOnly: false };
const CONTENT: FrameMeaning = { kind: 'content', usage: null, usageOnly: false };
const CLOSING: FrameMeaning = { kind: 'closing', usage: null, usageOnly: false };
const DONE: FrameMeaning = { kind: 'done', usage: null, usageOnly: false };
const ERROR: FrameMeaning = { kind: 'error', usage: null, usageOnly: false };

// Frames of a response that announce structure before the first piece of text or arguments.
const RESPONSES_PREAMBLE = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
]);
const RESPONSES_END = new Set(['response.completed', 'response.incomplete']);
const RESPONSES_ERROR = new Set(['response.failed', 'error']);

/** Strings that stand in every frame worth a closer look once the stream is under way. */
export const NOTEWORTHY: Record<Operation, RegExp> = {
  chat: /\[DONE\]|"usage"\s*:\s*\{|"error"\s*:|"finish_reason"\s*:\s*"/,
  responses: /"response\.(?:completed|incomplete|failed)"|"error"|\.done"/,
  embeddings: /"error"/,
};

export function readFrame(operation: Operation, frame: SseFrame): FrameMeaning {
  if (frame.data === '') return PREAMBLE;
  if (frame.data === '[DONE]') return DONE;
  const payload = parseObject(frame.data);
  // Not JSON and not ours to judge: it is what the provider sent.
  if (payload === null) return CONTENT;
  return operation === 'responses' ? readResponsesFrame(frame, payload) : readChatFrame(payload);
}

function readChatFrame(payload: Record<string, unknown>): FrameMeaning {
  if (isObject(payload['error'])) return ERROR;
  const usage = parseUsage(payload['usage']);
  const choices = payload['choices'];
  if (!Array.isArray(choices)) return { ...CONTENT, usage };
  if (choices.length === 0) return { kind: 'preamble', usage, usageOnly: usage !== null };
  if (!choices.every(saysNothing)) return { ...CONTENT, usage };
  return choices.some(finishes) ? { ...CLOSING, usage } : { ...PREAMBLE, usage };
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

function readResponsesFrame(frame: SseFrame, payload: Record<string, unknown>): FrameMeaning {
  const type = typeof payload['type'] === 'string' ? payload['type'] : (frame.event ?? '');
  if (RESPONSES_ERROR.has(type) || (type === '' && isObject(payload['error']))) return ERROR;
  if (RESPONSES_PREAMBLE.has(type)) return PREAMBLE;
  if (type.endsWith('.done')) return CLOSING;
  if (!RESPONSES_END.has(type)) return CONTENT;
  const response = payload['response'];
  return { kind: 'done', usage: isObject(response) ? parseUsage(response['usage']) : null, usageOnly: false };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
