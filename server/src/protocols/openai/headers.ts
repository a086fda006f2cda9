import type { HeaderRules } from '../protocol.ts';

/** `openai-beta` enables the features that the body uses. */
export const openaiHeaders: HeaderRules = {
  keys: [],
  forwarded: ['openai-beta'],
  forwardedPrefix: null,
  own: [],
  mark: null,
  requestIds: [],
};
