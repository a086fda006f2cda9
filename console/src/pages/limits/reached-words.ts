import type { LimitMetric } from '@relay/contract';
import { formatMoment } from '../../format/times.ts';
import { amountOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { reachedAt, type WindowUse } from './reached-at.ts';

const words = text.limits.form.reached;

interface ReachedWords {
  readonly use: WindowUse;
  readonly metric: LimitMetric;
  /** The value in the form. */
  readonly limit: number;
  /** The current value; null for a new limit. */
  readonly saved: number | null;
  readonly nowMs: number;
}

/** When a limit will be reached with the value in the form, and when with the current one. */
export function reachedWords({ use, metric, limit, saved, nowMs }: ReachedWords): string {
  const moment = (atMs: number) => formatMoment(atMs, nowMs);
  const resets = moment(use.endMs);
  const next = reachedAt(use, limit, nowMs);
  const was = saved === null || saved === limit ? null : reachedAt(use, saved, nowMs);
  switch (next.kind) {
    case 'early':
      return text.limits.outlook.early;
    case 'already':
      return words.already(amountOf(metric, use.used), resets);
    case 'never':
      return was?.kind === 'at'
        ? words.neverInstead(resets, moment(was.atMs))
        : `${words.never(resets)}${afterOf(was)}`;
    case 'at': {
      const at = moment(next.atMs);
      if (was?.kind === 'at' && moment(was.atMs) !== at) return words.atInstead(at, moment(was.atMs));
      return was?.kind === 'never' ? words.atInsteadOfNever(at, resets) : `${words.at(at)}${afterOf(was)}`;
    }
  }
}

function afterOf(was: ReturnType<typeof reachedAt> | null): string {
  return was?.kind === 'already' ? ` ${words.wasReached}` : '';
}
