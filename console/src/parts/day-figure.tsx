import type { ReactNode } from 'react';
import { type DayTraffic as Day, spendOf } from '../api/traffic-stats-queries.ts';
import type { DayFigure } from '../api/usage-queries.ts';
import { formatCount, formatMoneyShort } from '../format/numbers.ts';
import { text } from '../text/index.ts';
import { Sparkline } from '../ui/sparkline.tsx';
import { NoSpend, SpendSum } from './spend-sum.tsx';

/** Requests of the last 24 hours: their shape and their number. As wide before they are read, so that columns stay where they are. */
export function DayTraffic({ of, tone }: { readonly of: DayFigure | undefined; readonly tone?: string }) {
  return (
    <span className="flex items-center justify-end gap-2">
      <span className="w-[72px] max-md:hidden">
        {of === undefined ? null : (
          <Sparkline values={of.hours} {...(tone !== undefined && { className: tone })} />
        )}
      </span>
      <span className="min-w-9 text-right">
        {of === undefined || of.total === null ? text.states.empty : formatCount(of.total)}
      </span>
    </span>
  );
}

/** A value of the last 24 hours; faint where there is none. */
export function DayValue({ of, format }: DayValueProps) {
  if (of === undefined || of.total === null)
    return <span className="text-ink-faint">{text.states.empty}</span>;
  return <span className={of.total === 0 ? 'text-ink-faint' : ''}>{format(of.total)}</span>;
}

interface DayValueProps {
  readonly of: DayFigure | undefined;
  readonly format: (value: number) => ReactNode;
}

/** What a lane or key spent in the last 24 hours. */
export function DaySpend({ of }: { readonly of: Day | undefined }) {
  return of !== undefined && of.spend.total === null ? (
    <NoSpend />
  ) : (
    <DayValue of={of?.spend} format={formatMoneyShort} />
  );
}

/** Their spend in the footer, as far as it is known, and what it leaves out. */
export function SpendTotal({ of }: { readonly of: readonly (Day | undefined)[] }) {
  const spend = spendOf(of);
  return spend === null ? text.states.empty : <SpendSum {...spend} format={formatMoneyShort} />;
}

/** A total of the footer. */
export function known(total: number | null, format: (value: number) => string): string {
  return total === null ? text.states.empty : format(total);
}
