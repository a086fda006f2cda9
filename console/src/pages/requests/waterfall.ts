import type { RequestDetail } from '@relay/contract';

type Attempt = RequestDetail['attempts'][number];
type Verdict = RequestDetail['guardrails'][number];

/** One bar of the waterfall, in milliseconds from the arrival of the request. */
export type Step = { readonly startMs: number; readonly tookMs: number } & (
  | { readonly kind: 'prepare' }
  | { readonly kind: 'guard'; readonly verdict: Verdict }
  | { readonly kind: 'wait' }
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
);

/**
 * The phases of a request in order. Guardrails before dispatch are drawn before the first wait: most run there,
 * and the record does not say otherwise.
 */
export function stepsOf(detail: RequestDetail): readonly Step[] {
  const { timings, attempts, guardrails } = detail;
  const steps: Step[] = [];
  let atMs = 0;
  const add = (step: Step) => {
    steps.push(step);
    atMs = Math.max(atMs, step.startMs + step.tookMs);
  };
  add({ kind: 'prepare', startMs: 0, tookMs: (timings.receive_ms ?? 0) + (timings.route_ms ?? 0) });
  for (const verdict of guardrails.filter(({ stage }) => stage === 'pre_dispatch'))
    add({ kind: 'guard', startMs: atMs, tookMs: verdict.latency_ms, verdict });
  let waitedMs = 0;
  for (const attempt of attempts) {
    const waitMs = attempt.wait_ms ?? 0;
    waitedMs += waitMs;
    const startMs =
      attempt.started_at === null
        ? atMs + waitMs
        : Date.parse(attempt.started_at) - Date.parse(detail.arrived_at);
    if (waitMs > 0) add({ kind: 'wait', startMs: Math.max(0, startMs - waitMs), tookMs: waitMs });
    add({ kind: 'attempt', startMs, tookMs: attempt.duration_ms, attempt });
  }
  // A wait after the last attempt led to no attempt.
  const restMs = (timings.wait_ms ?? detail.wait_ms) - waitedMs;
  if (restMs > 0) add({ kind: 'wait', startMs: atMs, tookMs: restMs });
  for (const verdict of guardrails.filter(({ stage }) => stage === 'post_response'))
    add({ kind: 'guard', startMs: atMs, tookMs: verdict.latency_ms, verdict });
  return steps;
}

/** The length of the chart, which contains every bar. */
export function lengthMs(detail: RequestDetail, steps: readonly Step[]): number {
  const ends = steps.map(({ startMs, tookMs }) => startMs + tookMs);
  return Math.max(1, detail.timings.total_ms ?? detail.duration_ms, ...ends);
}

/** About four round ticks for the axis. */
export function ticksOf(totalMs: number): readonly number[] {
  const rough = totalMs / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const stepMs = Math.max(1, ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power);
  return Array.from({ length: Math.floor(totalMs / stepMs) + 1 }, (_, index) => index * stepMs);
}

/** A stream within the bar of its attempt. */
export interface StreamedPart {
  /** From the start of the attempt to the first token. */
  readonly firstMs: number;
  readonly tokens: number | null;
  /** From the first token to the end of the attempt. Null where hidden reasoning came before it, or the time is too short to tell. */
  readonly perSecond: number | null;
}

const RATE_MS_MIN = 10;

/** Null for a bar that is not the successful attempt of a stream, and if its first token is not known to be within it. */
export function streamedPartOf(step: Step, detail: RequestDetail): StreamedPart | null {
  const firstAtMs = detail.timings.first_content_ms;
  if (step.kind !== 'attempt' || step.attempt.outcome !== 'succeeded' || !detail.streaming) return null;
  if (firstAtMs === null || firstAtMs < step.startMs || firstAtMs > step.startMs + step.tookMs) return null;
  const firstMs = firstAtMs - step.startMs;
  const restMs = step.tookMs - firstMs;
  const { usage_source: source, output_tokens: output } = step.attempt;
  const { usage_details: details } = detail;
  const tokens = source === 'reported' || source === 'streamed' ? output : null;
  const isTelling = restMs >= RATE_MS_MIN && (details?.reasoning_tokens ?? 0) === 0;
  return { firstMs, tokens, perSecond: tokens !== null && isTelling ? (tokens * 1_000) / restMs : null };
}

/** A text beside a bar needs this share of the chart. */
const BESIDE_SHARE = 0.34;

/** Where the text of a bar has room; both shares are of the chart's length. */
export function textPlaceOf(startShare: number, endShare: number): 'after' | 'before' | 'inside' {
  if (1 - endShare >= BESIDE_SHARE) return 'after';
  return startShare >= BESIDE_SHARE ? 'before' : 'inside';
}
