import type { FrameMeaning } from './protocol.ts';

export const PREAMBLE: FrameMeaning = { kind: 'preamble', usage: null, usageOnly: false };
export const KEEP_ALIVE: FrameMeaning = { kind: 'keep_alive', usage: null, usageOnly: false };
export const CONTENT: FrameMeaning = { kind: 'content', usage: null, usageOnly: false };
export const CLOSING: FrameMeaning = { kind: 'closing', usage: null, usageOnly: false };
export const DONE: FrameMeaning = { kind: 'done', usage: null, usageOnly: false };
/** Spread into the meaning of a frame that may report usage: a failed request may have a cost. */
export const ERROR: FrameMeaning = { kind: 'error', usage: null, usageOnly: false };
