import type { LimitUsage, WhatIf, WhatIfFigures } from '@relay/contract';
import { counted, formatCount, formatDuration, formatMoneyShort, formatShare } from '../format/numbers.ts';
import { text } from '../text/index.ts';
import { placeOf, ruleOf } from './limit-metrics.ts';

const words = text.whatIf;
const SCOPES = ['provider', 'credential', 'endpoint', 'model', 'lane'] as const;

export type DifferenceTone = 'good' | 'bad' | 'wait' | 'plain';

/** What a result says of all replayed requests, or of those to one lane. */
export type ReplayedPart = Pick<
  WhatIf,
  'requests' | 'summary' | 'history' | 'before' | 'after' | 'rejecting'
> & { readonly lane_name?: string };

/** The part of the edited lane or limit, and the other lanes that change; all requests where something else is edited. */
export function replayedParts(
  result: WhatIf,
  editedLaneId: string | undefined,
): { readonly part: ReplayedPart; readonly otherLanes: WhatIf['lanes'] } {
  const edited = result.lanes.find(({ lane_id: id }) => id === editedLaneId);
  return {
    part: edited ?? result.limit ?? result,
    otherLanes: result.lanes.filter((lane) => lane !== edited),
  };
}

/** A figure of both replays. */
export interface FigureRow {
  readonly label: string;
  readonly current: string;
  readonly edited: string;
  /** The requests behind both shares: "97 of 223"; null for values that are not shares. */
  readonly counts: { readonly current: string; readonly edited: string } | null;
  /** Empty when they are equal. */
  readonly difference: string;
  readonly tone: DifferenceTone;
}

/** "+387 requests", "−1.7 s"; empty for no difference. */
export function signed(difference: number, format: (value: number) => string): string {
  if (difference === 0) return '';
  return `${difference > 0 ? '+' : '−'}${format(Math.abs(difference))}`;
}

export function figureRows({ before, after }: Pick<WhatIf, 'before' | 'after'>): readonly FigureRow[] {
  const shareOf = (count: number, { served, rejected }: WhatIfFigures) =>
    formatShare(served + rejected === 0 ? 0 : count / (served + rejected));
  const countOf = (count: number, { served, rejected }: WhatIfFigures) =>
    words.countOf(formatCount(count), formatCount(served + rejected));
  const shares = (
    label: string,
    figure: 'rejected' | 'waited' | 'fallbacks',
    tone: (difference: number) => DifferenceTone,
  ): FigureRow => {
    const difference = after[figure] - before[figure];
    return {
      label,
      current: shareOf(before[figure], before),
      edited: shareOf(after[figure], after),
      counts: { current: countOf(before[figure], before), edited: countOf(after[figure], after) },
      difference: signed(difference, (count) => counted(count, 'request')),
      tone: tone(difference),
    };
  };
  const values = (
    label: string,
    figure: 'wait_ms_p50' | 'wait_ms_p95',
    format: (value: number) => string,
    tone: DifferenceTone,
  ): FigureRow => ({
    label,
    current: format(before[figure]),
    edited: format(after[figure]),
    counts: null,
    difference: signed(after[figure] - before[figure], format),
    tone,
  });
  return [
    shares(words.rows.rejected, 'rejected', (difference) => (difference > 0 ? 'bad' : 'good')),
    shares(words.rows.waited, 'waited', () => 'plain'),
    values(words.rows.waitP50, 'wait_ms_p50', formatDuration, 'wait'),
    values(words.rows.waitP95, 'wait_ms_p95', formatDuration, 'wait'),
    shares(words.rows.fallbacks, 'fallbacks', () => 'plain'),
    {
      label: words.rows.spend,
      current: spendOf(before),
      edited: spendOf(after),
      counts: null,
      difference: spendDifference(before, after),
      tone: 'plain',
    },
  ];
}

/** What differs most for a caller or a lane: "352 fewer rejections". */
export function partWords({ before, after }: Both<'rejected' | 'wait_ms' | keyof Spend>): string {
  const rejected = after.rejected - before.rejected;
  if (rejected !== 0) return words.rejections(rejected);
  const waitMs = after.wait_ms - before.wait_ms;
  if (waitMs !== 0) return words.waitTime(signed(waitMs, formatDuration));
  return spendWords(before, after);
}

type Spend = Pick<WhatIfFigures, 'cost_micros' | 'unpriced_requests'>;

function spendOf({ cost_micros: micros }: Spend): string {
  return micros === null ? text.unpriced.noPrice : formatMoneyShort(micros);
}

/** Unknown if other requests have no price: those move spend by an unknown amount. */
function spendDifference(before: Spend, after: Spend): string {
  if (before.unpriced_requests !== after.unpriced_requests) return words.unknown;
  return signed((after.cost_micros ?? 0) - (before.cost_micros ?? 0), formatMoneyShort);
}

function spendWords(before: Spend, after: Spend): string {
  return words.spend(spendDifference(before, after));
}

interface Both<Figure extends keyof WhatIfFigures> {
  readonly before: Pick<WhatIfFigures, Figure>;
  readonly after: Pick<WhatIfFigures, Figure>;
}

/** What a limit does otherwise: "12 more rejections, 3 fewer requests wait". */
export function limitEffect(limit: WhatIf['limits'][number]): string {
  const rejected = limit.rejected_after - limit.rejected_before;
  const waited = limit.waited_after - limit.waited_before;
  return [
    ...(rejected === 0 ? [] : [words.rejections(rejected)]),
    ...(waited === 0 ? [] : [words.waits(waited)]),
  ].join(', ');
}

export function endpointWords(endpoint: WhatIf['endpoints'][number]): string {
  const { before, after } = endpoint;
  if (after.served !== before.served) return words.requests(after.served - before.served);
  return spendWords(before, after);
}

/** Both replays and the request log in requests, and why they differ: a replay knows today's settings only. */
export function comparedWords({ before, history }: Pick<ReplayedPart, 'before' | 'history'>): string {
  return before.rejected === history.rejected
    ? words.comparedSame(history.rejected)
    : words.compared(before.rejected, history.rejected);
}

type NamedRule = Pick<
  LimitUsage,
  'policy_kind' | 'subject_id' | 'scope_id' | 'metric' | 'period' | 'limit'
> & {
  readonly scope_type: string;
  readonly scope_name?: string | null;
};

/** "1 concurrent request on lane Checkout helper". */
export function rejectingName(limit: NamedRule, nameOf: (id: string) => string): string {
  const { policy_kind: kind, scope_id: scopeId, scope_name: scopeName, subject_id: subjectId } = limit;
  const scope = scopeOf(limit.scope_type);
  const named = scopeName ?? (scopeId === null ? '' : nameOf(scopeId));
  return `${ruleOf(limit)} ${placeOf({ kind, scope }, named, subjectId === null ? null : nameOf(subjectId))}`;
}

function scopeOf(type: string): LimitUsage['scope_type'] {
  return SCOPES.find((scope) => scope === type) ?? 'global';
}
