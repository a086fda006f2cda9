import { formatSpan } from '../../format/spans.ts';
import { shortAmountOf } from '../../parts/limit-metrics.ts';
import { isCalendar, windowAt } from '../../parts/limit-window.ts';
import { text } from '../../text/index.ts';
import { Time } from '../../ui/time.tsx';
import { useNow } from '../../ui/use-now.ts';
import type { LimitRow } from './limit-row.ts';
import type { Outlook } from './outlook.ts';

const words = text.limits;
const TICK_MS = 1_000;

/** When the limit resets; null for an unused sliding window. */
export function resetOf({ usage, period }: LimitRow, nowMs: number): number | null {
  if (isCalendar(period)) return windowAt(period, nowMs).endMs;
  return usage === null || usage.resets_at === null ? null : Date.parse(usage.resets_at);
}

/** Counts down to the reset and to the projected exhaustion. */
export function Countdown({ row, outlook }: { readonly row: LimitRow; readonly outlook: Outlook }) {
  const nowMs = useNow(TICK_MS);
  if (!row.enabled) return <span className="text-ink-faint">{text.states.empty}</span>;
  if (row.period === 'none') return <span className="text-ink-faint">{words.asRequestsEnd}</span>;
  const endMs = resetOf(row, nowMs);
  if (endMs === null || endMs <= nowMs) return <span className="text-ink-faint">{words.whole}</span>;
  const span = formatSpan(endMs - nowMs);
  const { runsOutMs } = outlook;
  const isSliding = !isCalendar(row.period);
  return (
    <div className="whitespace-nowrap tabular-nums">
      <Time
        at={new Date(endMs).toISOString()}
        format={() => (isSliding ? words.wholeIn(span) : words.resetsIn(span))}
      />
      {isSliding && row.usage !== null && row.usage.reserved > 0 ? (
        // Waiting requests reserve room in the time to come, so this can be longer than the window.
        <p className="text-xs text-ink-faint">
          {words.reservedAhead(shortAmountOf(row.metric, row.usage.reserved))}
        </p>
      ) : null}
      {runsOutMs === null || runsOutMs <= nowMs || outlook.state === 'exhausted' ? null : (
        <p className="text-xs text-warn">{words.runsOutIn(formatSpan(runsOutMs - nowMs))}</p>
      )}
    </div>
  );
}
