import { headers as names } from '@relay/contract';
import type { TaggedAnswer } from '../harness/tagged-request.ts';
import { type Exceeded, exceededWindows, type Line, type Site } from './site.ts';

const SPAN_MS = 250;

export interface Burst {
  readonly served: number;
  /** Neither served nor refused for the wait budget. */
  readonly strange: readonly string[];
  /** The most calls that the provider got within a quarter of a second. */
  readonly mostInSpan: number;
  readonly spreadMs: number;
  readonly exceeded: Exceeded;
}

/** Many concurrent requests that the window has room for, and the pace has not. */
export async function sendBurst(
  site: Site,
  { model, limit }: Line,
  { requests, gateways }: { readonly requests: number; readonly gateways: number },
): Promise<Burst> {
  const sent = Array.from({ length: requests }, (_, index) =>
    site.ask({ model, tag: `${model}-${index}`, gateway: index % gateways }),
  );
  const answers = await Promise.all(sent.map(({ answer }) => answer));
  const log = await site.seen(`${model}-`);
  const atMs = log.map(({ receivedAtMs }) => receivedAtMs);
  const strange = answers.filter((answer) => answer.status !== 200 && !isRefusal(answer));
  return {
    served: answers.filter(({ status }) => status === 200).length,
    strange: strange.map(({ status, text }) => `${status} ${text.slice(0, 200)}`),
    mostInSpan: Math.max(
      0,
      ...atMs.map((from) => atMs.filter((at) => at >= from && at < from + SPAN_MS).length),
    ),
    spreadMs: (atMs.at(-1) ?? 0) - (atMs[0] ?? 0),
    exceeded: exceededWindows(limit, log),
  };
}

function isRefusal({ status, headers, text }: TaggedAnswer): boolean {
  return (
    status === 429 &&
    Number(headers[names.retryAfterMs.toLowerCase()]) > 0 &&
    text.includes('rate_limit_wait_budget_exceeded')
  );
}
