import { Link } from '@tanstack/react-router';
import { formatMoney } from '../../format/numbers.ts';
import { formatMonth, formatShortDay } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { BigFigure, LeadSection } from './lead-section.tsx';
import { type MonthForecast, monthOf } from './month.ts';

const words = text.home.lead;

interface SpendSectionProps {
  readonly forecast: MonthForecast;
  readonly isKnown: boolean;
  /** Of the organization, for a month. */
  readonly budgetMicros: number | null;
  /** Whether the organization has no budget if none is given. */
  readonly knowsBudget: boolean;
  /** The spend of each day since the month began. */
  readonly days: readonly number[];
  readonly nowMs: number;
}

/** Spend since the month began, against the organization's budget, with the forecast. */
export function SpendSection({
  forecast,
  isKnown,
  budgetMicros,
  knowsBudget,
  days,
  nowMs,
}: SpendSectionProps) {
  const { overAtMs, forecastMicros, spentMicros } = forecast;
  const look = overAtMs === null ? 'font-medium text-ink' : 'font-medium text-warn';
  const month = formatMonth(new Date(nowMs).toISOString().slice(0, 7));
  return (
    <LeadSection
      title={words.spend(month)}
      tone={overAtMs === null ? 'none' : 'warn'}
      action={
        <Link to="/usage" className="link">
          {words.viewUsage}
        </Link>
      }
    >
      <BigFigure value={isKnown ? formatMoney(spentMicros) : text.home.none}>
        {budgetMicros === null ? '' : words.ofBudget(formatMoney(budgetMicros))}
      </BigFigure>
      {isKnown ? (
        <>
          <p className="mb-2.5 text-xs text-ink-faint">
            {words.forecast} <span className={look}>{formatMoney(Math.round(forecastMicros))}</span>
            {overAtMs === null ? null : (
              <>
                {' · '}
                {words.overOn}{' '}
                <span className={look}>{formatShortDay(new Date(overAtMs).toISOString())}</span>
              </>
            )}
            {budgetMicros === null && knowsBudget ? ` · ${words.noBudget}` : null}
          </p>
          <MonthFigure forecast={forecast} budgetMicros={budgetMicros} days={days} nowMs={nowMs} />
        </>
      ) : null}
    </LeadSection>
  );
}

const WIDTH = 320;
const HEIGHT = 96;

function MonthFigure({
  forecast,
  budgetMicros,
  days,
  nowMs,
}: Omit<SpendSectionProps, 'isKnown' | 'knowsBudget'>) {
  const { spentMicros, forecastMicros, elapsed } = forecast;
  const { startMs, endMs } = monthOf(nowMs);
  const top = Math.max(forecastMicros, budgetMicros ?? 0, 1) * 1.06;
  const x = (share: number) => (share * WIDTH).toFixed(1);
  const y = (micros: number) => (HEIGHT - 1 - (micros / top) * (HEIGHT - 4)).toFixed(1);
  const length = (endMs - startMs) / 86_400_000;
  let sum = 0;
  const points = days.map((micros, index) => {
    sum += micros;
    return `${x(Math.min(elapsed, (index + 1) / length))},${y(sum)}`;
  });
  const path = `M0,${y(0)} L${points.length === 0 ? `0,${y(0)}` : points.join(' L')}`;
  return (
    <figure className="m-0">
      <svg
        role="img"
        aria-label={words.spendFigure(formatMoney(spentMicros), formatMoney(Math.round(forecastMicros)))}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="block h-[96px] w-full"
        fill="none"
        vectorEffect="non-scaling-stroke"
      >
        <path d={`${path} L${x(elapsed)},${HEIGHT} L0,${HEIGHT}Z`} fill="var(--ink-soft)" opacity="0.13" />
        <path d={path} stroke="var(--ink)" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />
        <path
          d={`M${x(elapsed)},${y(spentMicros)} L${WIDTH},${y(forecastMicros)}`}
          stroke="var(--warn)"
          strokeWidth="1.5"
          strokeDasharray="2 3"
          vectorEffect="non-scaling-stroke"
        />
        {budgetMicros === null ? null : (
          <path
            d={`M0,${y(budgetMicros)}H${WIDTH}`}
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
        <span>{formatShortDay(new Date(startMs).toISOString())}</span>
        <span>{formatShortDay(new Date(endMs - 1).toISOString())}</span>
      </figcaption>
    </figure>
  );
}
