import type { RequestLogEntry } from '@relay/contract';
import { isPastWaitBudget } from '@relay/contract/words';
import { ArrowRight, TriangleAlert } from 'lucide-react';
import { formatCount, formatDuration, formatMoney } from '../../format/numbers.ts';
import { formatClock, formatHover, formatShortDay } from '../../format/times.ts';
import { causeOf } from '../../parts/failure-words.ts';
import { RequestStateBadge } from '../../parts/request-state-badge.tsx';
import { text } from '../../text/index.ts';
import type { LogColumn } from '../../ui/log-table.tsx';
import { nameIn, type RequestNames } from './use-request-names.ts';

const words = text.requests;

/** Cells are plain, because scrolling renders hundreds of them at a time. */
export function requestColumns(names: RequestNames, keyless: string): readonly LogColumn<RequestLogEntry>[] {
  return [
    ...identityColumns(names),
    {
      id: 'lane',
      header: words.columns.lane,
      className: 'w-[120px] max-xl:hidden',
      cell: ({ lane_id: id }) => (id === null ? <None /> : nameIn(names.lane, id)),
    },
    {
      id: 'key',
      header: words.columns.key,
      className: 'w-[120px] max-xl:hidden',
      cell: ({ api_key_id: id }) =>
        id === null ? <span className="text-ink-faint">{keyless}</span> : nameIn(names.key, id),
    },
    ...figureColumns,
  ];
}

const identityColumns = (names: RequestNames): readonly LogColumn<RequestLogEntry>[] => [
  {
    id: 'time',
    header: words.columns.time,
    className: 'w-[138px] max-sm:w-[72px]',
    cell: ({ arrived_at: at, duration_ms: ms }) => (
      <>
        <time dateTime={at} title={formatHover(at)} className="tabular-nums">
          <span className="mr-1.5 text-ink-faint max-sm:hidden">{formatShortDay(at)}</span>
          {formatClock(at)}
        </time>
        <span className="block text-xs text-ink-faint sm:hidden">{formatDuration(ms)}</span>
      </>
    ),
  },
  {
    id: 'state',
    header: words.columns.state,
    className: 'w-[270px] max-lg:w-[240px] max-sm:w-auto',
    cell: (row) => (
      <>
        <span className="flex min-w-0 items-center gap-2">
          <Result row={row} />
          <span className="truncate sm:hidden">
            <Models row={row} />
          </span>
        </span>
        <SecondLine row={row} names={names} />
      </>
    ),
  },
  {
    id: 'model',
    header: words.columns.model,
    className: 'max-sm:hidden',
    cell: (row) => <Models row={row} />,
  },
];

const figureColumns: readonly LogColumn<RequestLogEntry>[] = [
  {
    id: 'wait',
    header: words.columns.wait,
    className: 'w-[76px] text-right tabular-nums max-md:hidden',
    cell: (row) => (row.wait_ms === 0 ? <None /> : <Wait row={row} />),
  },
  {
    id: 'duration',
    header: words.columns.duration,
    className: 'w-[82px] text-right tabular-nums max-sm:hidden',
    cell: ({ duration_ms: ms }) => formatDuration(ms),
  },
  {
    id: 'tokens',
    header: words.columns.tokens,
    className: 'w-[148px] text-right tabular-nums max-lg:hidden',
    cell: ({ input_tokens: input, output_tokens: output }) =>
      input === null && output === null ? <None /> : `${countOf(input)} / ${countOf(output)}`,
  },
  {
    id: 'cost',
    header: words.columns.cost,
    className: 'w-[92px] text-right tabular-nums max-lg:hidden',
    cell: ({ cost_micros: micros }) => (micros === null ? <None /> : formatMoney(micros)),
  },
];

/** On a phone: why it failed, its lane and its cost; the latency is below the time. */
function SecondLine({ row, names }: { readonly row: RequestLogEntry; readonly names: RequestNames }) {
  const { error_code: code, lane_id: laneId, cost_micros: cost } = row;
  const parts = [
    code === null ? null : causeOf(code),
    laneId === null ? null : nameIn(names.lane, laneId),
    cost === null ? null : formatMoney(cost),
  ];
  return (
    <span className="block truncate pl-[22px] text-xs text-ink-faint sm:hidden">
      {parts.filter((part) => part !== null).join(' · ')}
    </span>
  );
}

/** Normal is quiet: only a failure has lights, and its cause beside it. */
function Result({
  row: { state, http_status: status, error_code: code },
}: {
  readonly row: RequestLogEntry;
}) {
  const exact = code === null ? String(status) : `${status} ${code}`;
  const cause = code === null ? String(status) : causeOf(code);
  if (state !== 'failed')
    return (
      <span className="shrink-0 pl-[22px] text-ink-soft" title={exact}>
        {words.states[state]}
      </span>
    );
  return (
    <span title={`${cause} (${exact})`} className="flex min-w-0 items-center gap-2 max-sm:shrink-0">
      <RequestStateBadge state={state} />
      <span className="truncate text-ink-soft max-sm:hidden">{cause}</span>
    </span>
  );
}

function Models({ row: { model, upstream_model: upstream } }: { readonly row: RequestLogEntry }) {
  return (
    <>
      {model ?? <span className="text-ink-faint">{words.noModel}</span>}
      {upstream === null || upstream === model ? null : (
        <span className="text-ink-faint">
          <ArrowRight aria-label={words.becomes} className="mx-1 inline size-3" />
          {upstream}
        </span>
      )}
    </>
  );
}

/** The icon repeats the color for those who do not see it; screen readers get the words. */
function Wait({ row }: { readonly row: RequestLogEntry }) {
  const wait = formatDuration(row.wait_ms);
  if (!isPastWaitBudget(row)) return <span className="text-wait-ink">{wait}</span>;
  const past = words.detail.pastWaitBudget(formatDuration(row.wait_budget_ms ?? 0));
  return (
    <span className="text-warn" title={past}>
      <TriangleAlert aria-label={past} role="img" className="mr-1 inline size-3" />
      {wait}
    </span>
  );
}

function None() {
  return <span className="text-ink-faint">{words.none}</span>;
}

function countOf(value: number | null): string {
  return value === null ? words.none : formatCount(value);
}
