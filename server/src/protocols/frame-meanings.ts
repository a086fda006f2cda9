import type { FrameMeaning } from './protocol.ts';

export const PREAMBLE: FrameMeaning = { kind: 'preamble', usage: null, usageOnly: false };
export const KEEP_ALIVE: FrameMeaning = { kind: 'keep_alive', usage: null, usageOnly: false };
export const CONTENT: FrameMeaning = { kind: 'content', usage: null, usageOnly: false };
export const CLOSING: FrameMeaning = { kind: 'closing', usage: null, usageOnly: false };
export const DONE: FrameMeaning = { kind: 'done', usage: null, usageOnly: false };
/** Spread into the meaning of a frame that may report usage: a failed request may have a cost. */
export const ERROR: FrameMeaning = { kind: 'error', usage: null, usageOnly: false };

/**
 * The meaning of data that is not a JSON object. It is relayed as content, because the client decides what it means; an object that is cut
 * or garbled means nothing.
 */
export function unreadable(data: string): FrameMeaning {
  return data.startsWith('{') ? { ...CONTENT, isBroken: true } : CONTENT;
}
