import { passedHeaders } from '../passed-headers.ts';
import type { HeaderRules } from '../protocol.ts';

export const openaiHeaders: HeaderRules = {
  keys: [],
  ...passedHeaders('openai'),
  own: [],
  mark: null,
  requestIds: [],
};
