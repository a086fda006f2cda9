import type { LimitUsage } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { text } from '../text/index.ts';
import { classes } from '../ui/class-names.ts';
import { metricLooks, shortAmountOf } from './limit-metrics.ts';

const CLOSE_SHARE = 0.8;

/** Usage of a limit as text and as a bar, with a link to the limit. */
export function LimitBar({ usage }: { readonly usage: LimitUsage }) {
  const { metric, period, limit } = usage;
  const taken = usage.used + usage.reserved;
  const rest = [metricLooks[metric].money ? '' : text.limits.metrics[metric], text.limits.periods[period]]
    .filter((part) => part !== '')
    .join(' ');
  const words = text.limits.used(shortAmountOf(metric, taken), shortAmountOf(metric, limit), rest);
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

/** The bar: used, then reserved in a lighter shade. Show the same values as text next to it. */
export function FillBar({ usage, thick = false }: FillBarProps) {
  const { limit, used, reserved } = usage;
  const usedShare = limit === 0 ? 1 : Math.min(1, used / limit);
  const takenShare = limit === 0 ? 1 : Math.min(1, (used + reserved) / limit);
  const colour = takenShare >= 1 ? 'bg-bad' : takenShare >= CLOSE_SHARE ? 'bg-warn' : 'bg-accent';
  return (
    <div
      aria-hidden
      className={classes('flex overflow-hidden rounded-full bg-line', thick ? 'h-2.5' : 'h-1.5')}
    >
      <div className={classes('h-full', colour)} style={{ width: `${usedShare * 100}%` }} />
      <div
        className={classes('h-full opacity-45', colour)}
        style={{ width: `${(takenShare - usedShare) * 100}%` }}
      />
    </div>
  );
}

interface FillBarProps {
  readonly usage: Pick<LimitUsage, 'limit' | 'used' | 'reserved'>;
  readonly thick?: boolean;
}
