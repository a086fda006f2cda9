import type { ErrorRules } from '../protocol.ts';

/** `{"error": …}`, as the OpenAI client libraries parse it. */
export const openaiErrors: ErrorRules = {
  body: (error) => ({ error }),
  unserved: () => ({}),
  interruptedFrame: (error) => `data: ${JSON.stringify({ error })}\n\n`,
};
