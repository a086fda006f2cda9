import type { Spend } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatMoneyShort } from '../../format/numbers.ts';
import { formatDay, formatMonth, formatTick } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { BigFigure, LeadSection } from './lead-section.tsx';

const words = text.home.lead;
const DAY_MS = 86_400_000;

interface SpendSectionProps {
  readonly spend: Spend;
  /** Whether the organization has no budget if none is given. */
  readonly knowsBudget: boolean;
}

/** Spend since the month began, against the organization's budget, with the forecast. */
export function SpendSection({ spend, knowsBudget }: SpendSectionProps) {
  const { month } = spend;
  const { cost_micros: spent, unpriced_requests: unpriced } = month;
  const { budget_micros: budget, over_budget_at: overAt } = month;
  return (
    <LeadSection
      title={words.spend(formatMonth(month.from.slice(0, 7)))}
      tone={overAt === null ? 'none' : 'warn'}
      action={
        <Link to="/usage" search={{ range: 'month' }} className="link">
          {words.viewUsage}
        </Link>
      }
    >
      <BigFigure value={spent === null ? words.unpriced : formatMoneyShort(spent)}>
        {budget === null ? '' : words.ofBudget(formatMoneyShort(budget))}
      </BigFigure>
      {spent === null ? (
        <p className="text-xs text-ink-faint">{words.unpricedHint}</p>
      ) : (
        <>
          <p className="mb-2.5 text-xs text-ink-faint">
            <Forecast month={month} />
            {budget === null && knowsBudget ? ` · ${words.noBudget}` : null}
            {todayWords(spend.today)}
            {unpriced === 0 ? null : ` · ${text.unpriced.excludes(unpriced)}`}
          </p>
          <MonthFigure spend={spend} spent={spent} />
        </>
      )}
    </LeadSection>
  );
}

/** Adds the cost of fallbacks, unless it is 0. Nothing if today has no price. */
function todayWords({ cost_micros: cost, fallback_cost_micros: fallbacks }: Spend['today']): string {
  if (cost === null) return '';
  const today = ` · ${words.today(formatMoneyShort(cost))}`;
  return (fallbacks ?? 0) === 0
    ? today
    : `${today}, ${words.fallbacksToday(formatMoneyShort(fallbacks ?? 0))}`;
}

function Forecast({ month }: Pick<Spend, 'month'>) {
  const { forecast_micros: forecast, over_budget_at: overAt } = month;
  if (forecast === null) return words.noForecast;
  const look = overAt === null ? 'font-medium text-ink' : 'font-medium text-warn';
  return (
    <>
      {words.forecast} <span className={look}>{formatMoneyShort(forecast)}</span>
      {overAt === null ? null : (
        <>
          {' · '}
          {words.overOn} <span className={look}>{formatDay(overAt)}</span>
        </>
      )}
    </>
  );
}

const WIDTH = 320;
const HEIGHT = 96;

function MonthFigure({ spend: { at, month }, spent }: { readonly spend: Spend; readonly spent: number }) {
  const { forecast_micros: forecast, budget_micros: budget, days } = month;
  const [startMs, endMs] = [Date.parse(month.from), Date.parse(month.to)];
  const elapsed = (Date.parse(at) - startMs) / (endMs - startMs);
  const top = Math.max(forecast ?? spent, budget ?? 0, 1) * 1.06;
  const x = (share: number) => (share * WIDTH).toFixed(1);
  const y = (micros: number) => (HEIGHT - 1 - (micros / top) * (HEIGHT - 4)).toFixed(1);
  const length = (endMs - startMs) / DAY_MS;
  let sum = 0;
  const points = days.map((micros, index) => {
    sum += micros ?? 0;
    return `${x(Math.min(elapsed, (index + 1) / length))},${y(sum)}`;
  });
  const path = `M0,${y(0)} L${points.length === 0 ? `0,${y(0)}` : points.join(' L')}`;
  return (
    <figure className="m-0">
      <svg
        role="img"
        aria-label={words.spendFigure(
          formatMoneyShort(spent),
          forecast === null ? null : formatMoneyShort(forecast),
        )}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="block h-[96px] w-full"
        fill="none"
        vectorEffect="non-scaling-stroke"
      >
        <path d={`${path} L${x(elapsed)},${HEIGHT} L0,${HEIGHT}Z`} fill="var(--ink-soft)" opacity="0.13" />
        <path d={path} stroke="var(--ink)" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />
        {forecast === null ? null : (
          <path
            d={`M${x(elapsed)},${y(spent)} L${WIDTH},${y(forecast)}`}
            stroke="var(--warn)"
            strokeWidth="1.5"
            strokeDasharray="2 3"
            vectorEffect="non-scaling-stroke"
          />
        )}
        {budget === null ? null : (
          <path
            d={`M0,${y(budget)}H${WIDTH}`}
            stroke="var(--ink)"
            strokeWidth="1"
            vectorEffect="non-scaling-stroke"
          />
        )}
        <path
          d={`M0,${HEIGHT - 0.5}H${WIDTH}`}
          stroke="var(--line-strong)"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <figcaption className="mt-1 flex justify-between text-[11px] leading-4 text-ink-faint">
        <span>{formatTick(month.from, 'day')}</span>
        <span>{formatTick(new Date(endMs - 1).toISOString(), 'day')}</span>
      </figcaption>
    </figure>
  );
}
