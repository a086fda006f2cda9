import type { Usage } from '../domain/money/usage.ts';
import { scanSteps } from '../kit/json-members.ts';
import { type JsonObject, parseObject } from '../kit/json-value.ts';
import type { Steps } from '../kit/slices.ts';
import type { AnswerReading, AnswerRules } from './protocol.ts';
import { statusOfError } from './translate/provider-failure.ts';

const DEPTH_MAX = 1_000;
/** More than any answer has. Each one costs memory. */
const MEMBERS_MAX = 10_000;
/** Up to this size an answer is parsed sooner than scanned. */
const PARSED_WHOLE_BYTES_MAX = 2 * 1024;
/** A larger member is not a count of tokens, and parsing it would block the event loop. */
const USAGE_BYTES_MAX = 16 * 1024;

const TIER_BYTES_MAX = 100;
/** A larger answer with a member `error` has content beside it. */
const ERROR_BYTES_MAX = 64 * 1024;

/** Answers that report usage in the member `usage` of their top level. Only that member of a large one is parsed. */
export function usageMemberRules(
  parseUsage: (value: unknown, serviceTier: unknown) => Partial<Usage> | null,
  textMembers: readonly string[] = [],
): AnswerRules {
  function readingOf(parsed: JsonObject): AnswerReading {
    const errorStatus = statusOfError(parsed);
    const usage = parseUsage(parsed['usage'], parsed['service_tier']);
    return { sound: true, usage, ...(errorStatus === null ? {} : { errorStatus }) };
  }

  /** The scan is more lenient than a parser about the inside of strings, and clients may be too. */
  function* scan(body: Buffer): Steps<AnswerReading> {
    const spans = yield* scanSteps(body, DEPTH_MAX, MEMBERS_MAX);
    if (typeof spans === 'string') return { sound: spans === 'too_many', usage: null };
    const mayBeError = body.length <= ERROR_BYTES_MAX && spans.members.some(({ name }) => name === 'error');
    if (mayBeError) {
      const parsed = parseObject(body.toString('latin1'));
      if (parsed !== null) return readingOf(parsed);
    }
    const span = spans.members.findLast(({ name }) => name === 'usage');
    if (span === undefined) return { sound: true, usage: null };
    if (span.end - span.start > USAGE_BYTES_MAX) return { sound: true, usage: null };
    const tier = spans.members.findLast(({ name }) => name === 'service_tier');
    try {
      const usage: unknown = JSON.parse(body.toString('latin1', span.start, span.end));
      const isShort = tier !== undefined && tier.end - tier.start <= TIER_BYTES_MAX;
      const serviceTier = isShort ? JSON.parse(body.toString('latin1', tier.start, tier.end)) : undefined;
      return { sound: true, usage: parseUsage(usage, serviceTier) };
    } catch {
      return { sound: false, usage: null };
    }
  }

  return {
    estimated: null,
    textMembers: new Set(textMembers),
    *read(body) {
      const parsed = body.length <= PARSED_WHOLE_BYTES_MAX ? parseObject(body.toString('latin1')) : null;
      return parsed === null ? yield* scan(body) : readingOf(parsed);
    },
  };
}
