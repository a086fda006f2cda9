import type { WaitDistribution } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { waitDistributionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatDuration } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Input } from '../../ui/field.tsx';
import { STOPS_MS, type WaitCounts, waitBars, waitCounts } from './wait-counts.ts';
import { WaitAxis, WaitHistogram, WaitLegend } from './wait-histogram.tsx';

const words = text.lanes.editor;
interface WaitBudgetFieldProps {
  readonly laneId: string;
  readonly valueMs: number;
  readonly savedMs: number;
  readonly disabled: boolean;
  readonly onChange: (valueMs: number) => void;
}

/** The wait budget with a histogram of the lane's actual waits. */
export function WaitBudgetField({ laneId, valueMs, savedMs, disabled, onChange }: WaitBudgetFieldProps) {
  const id = useId();
  const { can } = useAccess();
  const waits = useQuery({
    ...waitDistributionQuery(useApi(), laneId),
    enabled: can('getWaitDistribution'),
  });
  const bins = waits.data?.bins ?? [];
  const counts = waitCounts(bins, valueMs);
  const stop = STOPS_MS.findLastIndex((each) => each <= valueMs);
  return (
    <div>
      <label htmlFor={id} className="text-[13px] font-medium">
        {words.waitBudget}
      </label>
      <p id={`${id}-hint`} className="mb-3 text-xs text-ink-faint">
        {words.waitHint}
      </p>
      {waits.data === undefined ? null : (
        <WaitLegend
          immediate={counts.immediate}
          within={counts.least}
          beyond={counts.waited - counts.least}
          budgetMs={valueMs}
        />
      )}
      <WaitHistogram bars={waitBars(bins)} budgetMs={valueMs} savedMs={savedMs} />
      <input
        id={id}
        type="range"
        min={0}
        max={STOPS_MS.length - 1}
        step={1}
        value={Math.max(0, stop)}
        disabled={disabled}
        aria-describedby={`${id}-hint ${id}-share`}
        aria-valuetext={formatDuration(valueMs)}
        onChange={(event) => onChange(STOPS_MS[Number(event.target.value)] ?? 0)}
        // Half of the thumb reaches over each end, so that its middle is where the line above it is.
        className="-mx-2 w-[calc(100%+16px)] accent-ink"
      />
      <WaitAxis />
      <div className="mt-1.5 flex flex-wrap items-center justify-between gap-3">
        <p id={`${id}-share`} className="min-h-5 text-xs text-ink-soft">
          {waits.data === undefined ? null : waitWords(waits.data, counts, valueMs)}
        </p>
        <div className="flex items-center gap-2 text-xs text-ink-faint">
          <label htmlFor={`${id}-exact`}>{words.waitExact}</label>
          <Input
            id={`${id}-exact`}
            type="number"
            min={0}
            max={3_600_000}
            step={1}
            disabled={disabled}
            value={valueMs}
            className="h-8 w-28 text-right"
            onChange={(event) =>
              onChange(Math.min(3_600_000, Math.max(0, Math.trunc(Number(event.target.value) || 0))))
            }
          />
        </div>
      </div>
    </div>
  );
}

function waitWords(
  { requests, undispatched }: WaitDistribution,
  counts: WaitCounts,
  valueMs: number,
): string {
  if (requests === 0) return words.noWaits;
  const { waited, least, most } = counts;
  const within = least === most ? formatCount(least) : words.between(formatCount(least), formatCount(most));
  const enough = waited === 0 ? words.noneWaited : words.enough(formatDuration(valueMs), within, waited);
  return undispatched === 0 ? enough : `${enough} ${words.undispatched(undispatched)}`;
}
