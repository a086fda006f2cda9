import type { Usage } from '../../domain/money/usage.ts';
import { isObject, type JsonObject, parseObject } from '../../kit/json-value.ts';
import type { SseFrame } from '../../kit/sse-frames.ts';
import { DONE, ERROR, KEEP_ALIVE, unreadable } from '../frame-meanings.ts';
import type { FrameMeaning } from '../protocol.ts';

/**
 * What all OpenAI streams have in common: comments, `[DONE]`, errors by their event, and data that is not JSON. The rest is read by
 * `readPayload`; `usageIn` finds the usage that an error reports.
 */
export function frameReader(
  usageIn: (payload: JsonObject) => Partial<Usage> | null,
  readPayload: (payload: JsonObject, frame: SseFrame) => FrameMeaning,
): (frame: SseFrame) => FrameMeaning {
  return (frame) => {
    if (frame.data === '') return KEEP_ALIVE;
    if (frame.data === '[DONE]') return DONE;
    const payload = parseObject(frame.data);
    if (frame.event === 'error') return { ...ERROR, usage: payload === null ? null : usageIn(payload) };
    return payload === null ? unreadable(frame.data) : readPayload(payload, frame);
  };
}

/** An object as OpenAI sends it, or a text as Ollama does. */
export function hasError({ error }: JsonObject): boolean {
  return isObject(error) || (typeof error === 'string' && error !== '');
}
