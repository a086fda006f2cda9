import type { Usage } from '../domain/money/usage.ts';
import { scanObject } from '../kit/json-members.ts';
import type { AnswerReading, AnswerRules } from './protocol.ts';

const DEPTH_MAX = 1_000;

/** Answers that report usage in the member `usage` of their top level. Only that member is parsed. */
export function usageMemberRules(parseUsage: (value: unknown) => Usage | null): AnswerRules {
  return {
    read(body): AnswerReading {
      const text = body.toString('latin1');
      const spans = scanObject(text, DEPTH_MAX);
      if (typeof spans === 'string') return { sound: false, usage: null };
      const span = spans.members.findLast(({ name }) => name === 'usage');
      if (span === undefined) return { sound: true, usage: null };
      try {
        return { sound: true, usage: parseUsage(JSON.parse(text.slice(span.start, span.end))) };
      } catch {
        return { sound: false, usage: null };
      }
    },
    /** Providers write usage last. */
    readTail(tail): Usage | null {
      const found = /"usage"\s*:\s*(\{[^{}]*\})[^{}]*\}\s*$/.exec(tail.toString('latin1'))?.[1];
      if (found === undefined) return null;
      try {
        return parseUsage(JSON.parse(found));
      } catch {
        return null;
      }
    },
  };
}
