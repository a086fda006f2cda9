import type { RequestDetail } from '@relay/contract';
import { formatDuration, formatMoney } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';

const words = text.requests.detail.story;

/** A part of the sentence about a request, with what matters in it. */
export interface Clause {
  readonly tone: 'plain' | 'wait' | 'bad';
  readonly before: string;
  readonly strong: string;
  readonly after: string;
}

/** What became of a request, in the order of events: its wait, failed attempts, fallback, and its end. */
export function storyOf(detail: RequestDetail, nameOf: (endpointId: string) => string): readonly Clause[] {
  const clauses: Clause[] = [];
  const say = (tone: Clause['tone'], [before, strong, after]: readonly [string, string, string]) =>
    clauses.push({ tone, before, strong, after });
  if (detail.wait_ms > 0) say('wait', words.waited(formatDuration(detail.wait_ms)));
  const failed = detail.attempts.filter(({ outcome }) => outcome === 'failed');
  for (const { endpoint_id: id, upstream_status: status } of failed)
    say('bad', status === null ? words.failedAt(nameOf(id)) : words.refusedBy(nameOf(id), String(status)));
  const last = detail.attempts.at(-1);
  const isNew = failed.every(({ endpoint_id: id }) => id !== last?.endpoint_id);
  if (failed.length > 0 && last !== undefined && isNew)
    say('plain', words.fellBack(nameOf(last.endpoint_id)));
  say(detail.state === 'failed' ? 'bad' : 'plain', endOf(detail));
  return clauses;
}

/** With the latency, which the page shows beside it. */
function endOf({ state, streaming, duration_ms: durationMs }: RequestDetail) {
  const took = formatDuration(durationMs);
  if (state === 'completed') return streaming ? words.streamed(took) : words.answered(took);
  return state === 'failed' ? words.failed(took) : words.cancelled(took);
}

/** An error has a first byte, not a first token, so a failed request without output has no time to first token. */
export function withTrueFirstToken(detail: RequestDetail): RequestDetail {
  if (detail.state !== 'failed' || (detail.output_tokens ?? 0) > 0) return detail;
  return { ...detail, timings: { ...detail.timings, first_content_ms: null } };
}

/** The last sentence; null where no cost is known. */
export function costOf({ cost_micros: micros }: RequestDetail): Clause | null {
  if (micros === null) return null;
  const [before, strong, after] = words.cost(formatMoney(micros));
  return { tone: 'plain', before, strong, after };
}
