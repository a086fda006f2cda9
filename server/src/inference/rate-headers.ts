import { type LimitMetric, limitMetrics, headers as names } from '@relay/contract';
import type { RateWindow } from './exchange.ts';

interface RateHeaderNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** OpenAI's clients read these; they know none for spend and concurrency. */
const RATE_HEADERS: Readonly<Record<LimitMetric, RateHeaderNames | null>> = {
  requests: {
    limit: names.rateLimitLimitRequests,
    remaining: names.rateLimitRemainingRequests,
    reset: names.rateLimitResetRequests,
  },
  tokens: {
    limit: names.rateLimitLimitTokens,
    remaining: names.rateLimitRemainingTokens,
    reset: names.rateLimitResetTokens,
  },
  spend: null,
  concurrency: null,
};

/**
 * The tightest limit of each metric that has headers, names and values in turn. Relay never passes on the provider's own
 * values.
 */
export function rateHeaders(windows: readonly RateWindow[]): string[] {
  if (windows.length === 0) return [];
  const list: string[] = [];
  for (const metric of limitMetrics) {
    const header = RATE_HEADERS[metric];
    const window = header === null ? null : tightest(windows, metric);
    if (header === null || window === null) continue;
    list.push(header.limit, String(window.limit));
    list.push(header.remaining, String(Math.max(0, window.limit - window.used)));
    list.push(header.reset, durationText(window.resetMs));
  }
  return list;
}

/** The limit with the smallest share left. */
function tightest(windows: readonly RateWindow[], metric: RateWindow['metric']): RateWindow | null {
  let found: RateWindow | null = null;
  for (const window of windows) {
    if (window.metric !== metric) continue;
    if (found === null || window.used * found.limit > found.used * window.limit) found = window;
  }
  return found;
}

function durationText(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(3)}s`;
}
