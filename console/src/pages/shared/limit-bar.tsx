import type { LimitUsage } from '@relay/contract';
import { formatCompact, formatMoney } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';

/** An amount of a metric: money for spend, else a count. */
function formatMetric(metric: LimitUsage['metric'], value: number): string {
  return metric === 'spend' ? formatMoney(value) : formatCompact(value);
}

/** How full a policy is: used and reserved against the limit, in words and as a bar. */
export function LimitBar({ usage }: { readonly usage: LimitUsage }) {
  const { metric, period, limit } = usage;
  const taken = usage.used + usage.reserved;
  const share = limit === 0 ? 1 : Math.min(1, taken / limit);
  const rest = [metric === 'spend' ? '' : text.limits.metrics[metric], text.limits.periods[period]]
    .filter((part) => part !== '')
    .join(' ');
  const words = text.limits.used(formatMetric(metric, taken), formatMetric(metric, limit), rest);
  return (
    <div className="w-full max-w-52 min-w-32">
      <div aria-hidden className="h-1.5 overflow-hidden rounded-full bg-line">
        <div
          className={classes(
            'h-full rounded-full',
            share >= 1 ? 'bg-bad' : share >= 0.8 ? 'bg-warn' : 'bg-accent',
          )}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <p className="mt-1 truncate text-xs text-ink-faint">{words}</p>
    </div>
  );
}
