import type { LimitUsage } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { text } from '../text/index.ts';
import { type Fill, Meter } from '../ui/meter.tsx';
import { CLOSE_SHARE, rejectsWhenFull, shortAmountOf } from './limit-metrics.ts';

/** Usage of a limit as text and as a bar, with a link to the limit. */
export function LimitBar({ usage }: { readonly usage: LimitUsage }) {
  const { metric, period, limit } = usage;
  const taken = usage.used + usage.reserved;
  const amount = text.limits.amount[metric](shortAmountOf(metric, limit), limit === 1);
  const rule = text.limits.rule(amount, text.limits.periods[period]);
  const words = text.limits.used(shortAmountOf(metric, taken), rule);
  return (
    <Link
      to="/limits"
      search={{ open: usage.policy_id }}
      className="group relative z-10 block w-full max-w-52 min-w-32 rounded"
    >
      <FillBar usage={usage} />
      <span className="mt-1 block truncate text-xs text-ink-faint group-hover:underline">{words}</span>
    </Link>
  );
}

/** The bar: used, then reserved, hatched; hatched to its end if it runs out before it resets. Show the same values as text next to it. */
export function FillBar({ usage, thick = false }: FillBarProps) {
  const { limit, used, reserved, period, runs_out_at: runsOutAt } = usage;
  const usedShare = limit === 0 ? 1 : Math.min(1, used / limit);
  const takenShare = limit === 0 ? 1 : Math.min(1, (used + reserved) / limit);
  const rejects = rejectsWhenFull({ period, limit });
  const isForecast = rejects && runsOutAt !== null && takenShare < 1;
  return (
    <Meter
      share={usedShare}
      more={isForecast ? 1 - usedShare : takenShare - usedShare}
      fill={fillOf(takenShare, rejects, isForecast)}
      {...(thick && { className: 'h-2.5' })}
    />
  );
}

/** A budget rejects requests when it is used up; at a limit on concurrency, or per second or minute, they wait. */
function fillOf(share: number, rejects: boolean, isForecast: boolean): Fill {
  if (share >= 1) return rejects ? 'over' : 'full';
  return isForecast || (rejects && share >= CLOSE_SHARE) ? 'close' : 'room';
}

interface FillBarProps {
  readonly usage: Pick<LimitUsage, 'limit' | 'used' | 'reserved' | 'period' | 'runs_out_at'>;
  readonly thick?: boolean;
}
