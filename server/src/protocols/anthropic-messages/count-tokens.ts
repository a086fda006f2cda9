import type { Usage } from '../../domain/money/usage.ts';
import { usageMemberRules } from '../answer-usage.ts';
import { CONTENT } from '../frame-meanings.ts';
import { NO_INPUT } from '../input-bound/input-at-most.ts';
import { NO_OUTPUT } from '../output-cap.ts';
import { WRITES_NOTHING } from '../output-most.ts';
import type { Protocol } from '../protocol.ts';
import { anthropicMessages } from './index.ts';

const { request, text } = anthropicMessages;

/** Providers count for nothing. It is a request to them nevertheless, and counts as one for limits. */
const FREE: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, free: true };

/** A count is of what is in the request. */
const NOTHING_UNSEEN = { outputTokens: 0, unseenInputTokens: 0 };

/** https://docs.anthropic.com/en/api/messages-count-tokens */
export const anthropicCountTokens: Protocol = {
  ...anthropicMessages,
  operation: 'count_tokens',
  path: '/messages/count_tokens',
  hasOutput: false,
  isFree: true,
  request: {
    ...request,
    parse: function* (bytes) {
      return { ...(yield* request.parse(bytes)), streaming: false };
    },
    isStreaming: () => false,
    output: () => NO_OUTPUT,
    // biome-ignore lint/correctness/useYield: nothing to read
    inputBound: function* () {
      return NO_INPUT;
    },
    estimate: () => ({ inputTokens: 0, outputTokens: 0, free: true }),
    outputMost: () => ({ ...WRITES_NOTHING, free: true }),
    outputCapField: null,
  },
  answer: {
    ...usageMemberRules(() => FREE),
    estimated: (body) => ({ input_tokens: request.estimate(body, NOTHING_UNSEEN).inputTokens }),
  },
  // A provider that streams nevertheless is read for nothing.
  stream: {
    noteworthy: /$^/,
    noteworthyWithTier: null,
    readFrame: () => CONTENT,
    textBytes: () => 0,
    textMembers: new Set(),
    notText: null,
  },
  text: text === null ? null : { ...text, replace: (given) => given },
};
