import type { NamedLimit } from '@relay/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { type HistoryQuestion, limitHistoryQuery } from '../../api/limit-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatMoment, formatTick } from '../../format/times.ts';
import { burnDown, type Stretch, stretchOf } from '../../parts/burn-down.ts';
import { FillBar } from '../../parts/limit-bar.tsx';
import { historyQuestionOf } from '../../parts/limit-history.ts';
import { amountOf } from '../../parts/limit-metrics.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { aboutOf } from './about-amount.ts';
import { axisLabels } from './axis-labels.ts';

const words = text.home.lead;

interface LimitFigureProps {
  readonly usage: NamedLimit;
  readonly nowMs: number;
}

/** What is left of a limit over its window, until it runs out; a bar where the statistics cannot tell. */
export function LimitFigure({ usage, nowMs }: LimitFigureProps) {
  const { can } = useAccess();
  const { policy_kind: kind, subject_id: subjectId, scope_type: scope, scope_id: scopeId, metric } = usage;
  const stretch = stretchOf(usage.period, nowMs);
  const question =
    stretch === null ? null : historyQuestionOf({ kind, subjectId, scope, scopeId, metric }, stretch);
  if (stretch === null || question === null || !can('getTimeseries'))
    return (
      <div className="mb-2.5">
        <FillBar usage={usage} thick />
      </div>
    );
  return <BurnFigure usage={usage} nowMs={nowMs} stretch={stretch} question={question} />;
}

const WIDTH = 320;
const HEIGHT = 96;
/** Of the width; a narrower hatch has no room for its word. */
const WORD_SHARE = 0.2;

interface BurnFigureProps extends LimitFigureProps {
  readonly stretch: Stretch;
  readonly question: HistoryQuestion;
}

function BurnFigure({ usage, nowMs, stretch, question }: BurnFigureProps) {
  const { data = [] } = useQuery({
    ...limitHistoryQuery(useApi(), question),
    placeholderData: keepPreviousData,
  });
  const { startMs, endMs } = stretch;
  const points = pointsOf(usage, burnDown(usage, data, stretch, nowMs).left, stretch, nowMs);
  const isOver = usage.remaining === 0;
  const runsOutMs = usage.runs_out_at === null ? null : Date.parse(usage.runs_out_at);
  const emptyMs = isOver ? (points.find(({ value }) => value === 0)?.atMs ?? nowMs) : runsOutMs;
  const shareOf = (atMs: number) => (atMs - startMs) / (endMs - startMs);
  const emptyShare = emptyMs === null ? null : shareOf(emptyMs);
  const emptyAt = emptyMs === null || isOver ? null : formatMoment(emptyMs, nowMs);
  return (
    <figure className="m-0 mb-2.5">
      <div aria-hidden className="flex justify-between gap-2 text-[11px] leading-4 text-ink-faint">
        <span>{words.left(amountOf(usage.metric, usage.limit))}</span>
        {emptyShare === null || 1 - emptyShare < WORD_SHARE ? null : (
          <span className="text-bad">{words.rejected}</span>
        )}
      </div>
      <div className="relative">
        <Drawing
          label={words.limitFigure(aboutOf(usage.metric, usage.remaining), emptyAt)}
          limit={usage.limit}
          points={points}
          emptyMs={emptyMs}
          nowMs={nowMs}
          stretch={stretch}
        />
        <span aria-hidden className="absolute bottom-0.5 left-1 text-[11px] leading-4 text-ink-faint">
          0
        </span>
        {emptyShare === null ? null : (
          <span
            aria-hidden
            className="absolute -bottom-[3px] size-[7px] -translate-x-1/2 rounded-full bg-bad"
            style={{ left: `${emptyShare * 100}%` }}
          />
        )}
      </div>
      <Axis stretch={stretch} nowMs={nowMs} emptyMs={emptyMs} period={usage.period} />
    </figure>
  );
}

function Axis({ stretch: { startMs, endMs }, nowMs, emptyMs, period }: AxisProps) {
  const shareOf = (atMs: number) => (atMs - startMs) / (endMs - startMs);
  // In a window of days, a time of day would not tell which.
  const step = period === 'week' || period === 'month' ? 'day' : 'minute';
  const tick = (atMs: number) => formatTick(new Date(atMs).toISOString(), step);
  const said = {
    start: tick(startMs),
    now: words.now,
    reached: emptyMs === null ? '' : tick(emptyMs),
    end: tick(endMs),
  };
  return (
    <figcaption className="relative mt-1 h-4 text-[11px] leading-4 whitespace-nowrap text-ink-faint">
      {axisLabels(shareOf(nowMs), emptyMs === null ? null : shareOf(emptyMs)).map(({ name, share }) => (
        <span
          key={name}
          className={classes(
            'absolute',
            name === 'reached' && 'font-semibold text-ink',
            name === 'end' ? 'right-0' : name !== 'start' && '-translate-x-1/2',
          )}
          style={name === 'end' ? undefined : { left: `${share * 100}%` }}
        >
          {said[name]}
        </span>
      ))}
    </figcaption>
  );
}

interface AxisProps extends Pick<DrawingProps, 'stretch' | 'nowMs' | 'emptyMs'> {
  readonly period: NamedLimit['period'];
}

interface Left {
  readonly atMs: number;
  readonly value: number;
}

/** What was left at the end of each bucket, and what is left now. */
function pointsOf(
  { limit }: NamedLimit,
  left: readonly { readonly value: number | null }[],
  { startMs, endMs }: Stretch,
  nowMs: number,
): readonly Left[] {
  const stepMs = (endMs - startMs) / left.length;
  const known = left.flatMap(({ value }, index) =>
    value === null ? [] : [{ atMs: Math.min(startMs + stepMs * (index + 1), nowMs), value }],
  );
  return [{ atMs: startMs, value: limit }, ...known];
}

interface DrawingProps {
  readonly label: string;
  readonly limit: number;
  readonly points: readonly Left[];
  /** When nothing is left; null when that is not before the reset. */
  readonly emptyMs: number | null;
  readonly nowMs: number;
  readonly stretch: Stretch;
}

function Drawing({ label, limit, points, emptyMs, nowMs, stretch: { startMs, endMs } }: DrawingProps) {
  const hatch = useId();
  const x = (atMs: number) => (((atMs - startMs) / (endMs - startMs)) * WIDTH).toFixed(1);
  const y = (amount: number) => (HEIGHT - 1 - (amount / Math.max(limit, 1)) * (HEIGHT - 5)).toFixed(1);
  const path = `M${points.map(({ atMs, value }) => `${x(atMs)},${y(value)}`).join(' L')}`;
  const last = points.at(-1);
  const line = { strokeWidth: 1.5, vectorEffect: 'non-scaling-stroke' } as const;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="block h-[96px] w-full"
      fill="none"
    >
      <defs>
        <pattern id={hatch} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M0,0V6" stroke="var(--bad)" strokeWidth="1.5" opacity="0.5" />
        </pattern>
      </defs>
      {emptyMs === null ? null : (
        <path d={`M${x(emptyMs)},4 H${WIDTH} V${HEIGHT} H${x(emptyMs)}Z`} fill={`url(#${hatch})`} />
      )}
      <path d={`${path} V${HEIGHT} H0Z`} fill="var(--ink-soft)" opacity="0.13" />
      <path d={path} stroke="var(--ink)" {...line} />
      {emptyMs === null || last === undefined || last.value === 0 ? null : (
        <path
          d={`M${x(last.atMs)},${y(last.value)} L${x(emptyMs)},${y(0)}`}
          stroke="var(--warn)"
          strokeDasharray="2 3"
          {...line}
        />
      )}
      <path
        d={`M${x(nowMs)},4V${HEIGHT}`}
        stroke="var(--ink-faint)"
        strokeDasharray="1 3"
        {...line}
        strokeWidth={1}
      />
      <path d={`M0,${HEIGHT - 0.5}H${WIDTH}`} stroke="var(--line-strong)" {...line} strokeWidth={1} />
    </svg>
  );
}
