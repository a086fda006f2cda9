import { isObject, type JsonObject, parseObject } from '../../kit/json-value.ts';
import type { SseFrame } from '../../kit/sse-frames.ts';
import { CONTENT, DONE, ERROR, PREAMBLE } from '../frame-meanings.ts';
import type { FrameMeaning } from '../protocol.ts';

/** What all OpenAI streams have in common: comments, `[DONE]` and data that is not JSON. The rest is read by `readPayload`. */
export function frameReader(
  readPayload: (payload: JsonObject, frame: SseFrame) => FrameMeaning,
): (frame: SseFrame) => FrameMeaning {
  return (frame) => {
    if (frame.data === '') return PREAMBLE;
    if (frame.data === '[DONE]') return DONE;
    if (frame.event === 'error') return ERROR;
    const payload = parseObject(frame.data);
    // Data that is not a JSON object is relayed as content: the client decides what it means.
    return payload === null ? CONTENT : readPayload(payload, frame);
  };
}

/** An object as OpenAI sends it, or a text as Ollama does. */
export function hasError({ error }: JsonObject): boolean {
  return isObject(error) || (typeof error === 'string' && error !== '');
}
