import type { WaitDistribution } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { waitDistributionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatDuration, formatShare } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Input } from '../../ui/field.tsx';
import { Plate } from '../../ui/plate.tsx';
import { type Share, servedShare } from './served-share.ts';

const words = text.lanes.editor;
/** The stops of the slider. A bin of the histogram ends at each, so shares are exact; the field accepts other values. */
const STOPS_MS = [
  0, 100, 250, 400, 630, 1_000, 1_600, 2_500, 4_000, 6_300, 10_000, 16_000, 25_000, 40_000, 63_000, 100_000,
  160_000, 250_000, 400_000, 630_000, 3_600_000,
];

interface WaitBudgetFieldProps {
  readonly laneId: string;
  readonly valueMs: number;
  readonly disabled: boolean;
  readonly onChange: (valueMs: number) => void;
}

/** The wait budget with a histogram of the lane's actual waits. */
export function WaitBudgetField({ laneId, valueMs, disabled, onChange }: WaitBudgetFieldProps) {
  const id = useId();
  const { can } = useAccess();
  const waits = useQuery({
    ...waitDistributionQuery(useApi(), laneId),
    enabled: can('getWaitDistribution'),
  });
  const bins = waits.data?.bins ?? [];
  const stop = STOPS_MS.findLastIndex((each) => each <= valueMs);
  return (
    <div>
      <div className="mb-2 flex items-end justify-between gap-4">
        <div>
          <label htmlFor={id} className="text-[13px] font-medium">
            {words.waitBudget}
          </label>
          <p id={`${id}-hint`} className="text-xs text-ink-faint">
            {words.waitHint}
          </p>
        </div>
        <Plate size="big">{formatDuration(valueMs)}</Plate>
      </div>
      <WaitHistogram bins={bins} budgetMs={valueMs} />
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
        className="w-full accent-ink"
      />
      <div className="mt-1.5 flex flex-wrap items-center justify-between gap-3">
        <p id={`${id}-share`} className="min-h-5 text-xs text-ink-soft">
          {waits.data === undefined ? null : waitWords(waits.data, valueMs)}
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

function waitWords(waits: WaitDistribution, valueMs: number): string {
  const share = servedShare(waits.bins, valueMs);
  if (share === null) return words.noWaits;
  const { requests, undispatched: count } = waits;
  const served = words.served(formatDuration(valueMs), shareWords(share), requests);
  return count === 0 ? served : `${served} ${words.undispatched(count)}`;
}

/** A range where the share is not known exactly, and the two ends are shown differently. */
function shareWords({ least, most }: Share): string {
  const [from, to] = [formatShare(least), formatShare(most)];
  return from === to ? from : words.between(from, to);
}

interface WaitHistogramProps {
  readonly bins: readonly { readonly up_to_ms: number | null; readonly requests: number }[];
  readonly budgetMs: number;
}

/** The histogram: waits within the budget are yellow, longer ones are rejected and hatched. The text below says the same. */
function WaitHistogram({ bins, budgetMs }: WaitHistogramProps) {
  const counts = STOPS_MS.map((upToMs, index) => {
    const aboveMs = STOPS_MS[index - 1] ?? -1;
    return bins
      .filter(({ up_to_ms: ms }) => {
        const atMs = ms ?? Number.POSITIVE_INFINITY;
        return atMs > aboveMs && (atMs <= upToMs || index === STOPS_MS.length - 1);
      })
      .reduce((sum, { requests }) => sum + requests, 0);
  });
  const most = Math.max(...counts, 1);
  return (
    <div aria-hidden className="flex h-24 items-end gap-px border-b-2 border-line-strong px-1.5">
      {counts.map((count, index) => (
        <div
          key={STOPS_MS[index]}
          title={`${formatDuration(STOPS_MS[index] ?? 0)}: ${formatCount(count)}`}
          className={classes(
            'min-h-px flex-1 border',
            (STOPS_MS[index] ?? 0) <= budgetMs
              ? 'border-wait-edge bg-wait'
              : 'border-bad bg-[repeating-linear-gradient(115deg,var(--bad)_0_1.5px,transparent_1.5px_4px)]',
          )}
          style={{ height: `${(Math.sqrt(count) / Math.sqrt(most)) * 100}%` }}
        />
      ))}
    </div>
  );
}
