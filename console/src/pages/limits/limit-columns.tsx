import { FillBar } from '../../parts/limit-bar.tsx';
import { ruleOf, shortAmountOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { type Column, RowName } from '../../ui/data-table.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Countdown } from './countdown.tsx';
import type { LimitRow } from './limit-row.ts';
import { whereOf } from './limit-words.ts';
import type { LimitState, Standing } from './outlook.ts';
import { ScopeLink, SubjectLink } from './scope-link.tsx';
import type { LimitPlaces } from './use-limit-places.ts';

const words = text.limits;

const TONES: Record<LimitState, Tone> = {
  exhausted: 'bad',
  close: 'warn',
  enabled: 'neutral',
  disabled: 'neutral',
};

/** A displayed limit with its position by tightness. */
export interface RankedLimit extends Standing {
  readonly rank: number;
  /** The tightest limit of the selected lane. */
  readonly isFirst: boolean;
}

export function limitColumns(
  places: LimitPlaces,
  open: (id: string) => void,
): readonly Column<RankedLimit>[] {
  return [
    {
      id: 'limit',
      header: words.columns.limit,
      width: 'max-w-0 w-2/5 max-md:w-1/2',
      sortBy: ({ row }) => `${row.metric} ${String(row.limit).padStart(20, '0')}`,
      cell: ({ row }) => (
        <RowName
          onOpen={() => open(row.id)}
          note={
            <>
              <span className="md:hidden">{whereOf(row, places.names)}</span>
              <span className="max-md:hidden">
                {row.ofEndpoint ? words.onEndpoint : words.kindOf[row.kind]}
              </span>
            </>
          }
        >
          {ruleOf(row)}
        </RowName>
      ),
    },
    {
      id: 'applies',
      header: words.columns.applies,
      from: 'md',
      width: 'max-w-0 w-1/4',
      sortBy: ({ row }) => whereOf(row, places.names),
      cell: ({ row }) => <Applies row={row} places={places} />,
    },
    {
      id: 'used',
      header: words.columns.used,
      sortBy: ({ rank }) => rank,
      cell: ({ row }) => <Used row={row} />,
    },
    {
      id: 'resets',
      header: words.columns.resets,
      from: 'sm',
      width: 'w-44',
      cell: ({ row, outlook }) => <Countdown row={row} outlook={outlook} />,
    },
    {
      id: 'state',
      header: words.columns.state,
      from: 'sm',
      sortBy: ({ outlook }) => outlook.state,
      cell: ({ row, outlook, isFirst }) => (
        <span className="flex flex-wrap gap-1.5">
          <StateBadge state={outlook.state} />
          {isFirst ? <Badge tone="note">{words.bitesFirst}</Badge> : null}
          {row.enforcement === 'hard' ? <HardBadge /> : null}
          {row.fromFile ? <FileBadge /> : null}
        </span>
      ),
    },
  ];
}

export function StateBadge({ state }: { readonly state: LimitState }) {
  return <Signal tone={TONES[state]}>{words.states[state]}</Signal>;
}

export function HardBadge() {
  return (
    <span title={words.hardHint}>
      <Badge tone="neutral">{words.hard}</Badge>
    </span>
  );
}

export function FileBadge() {
  return (
    <span title={text.states.managedByFileHint}>
      <Badge tone="note">{text.states.managedByFile}</Badge>
    </span>
  );
}

function Applies({ row, places }: { readonly row: LimitRow; readonly places: LimitPlaces }) {
  return (
    <div className="relative z-10 w-fit max-w-full">
      {row.kind === 'resource' ? (
        <p className="truncate">
          <ScopeLink row={row} places={places} />
        </p>
      ) : (
        <>
          <p className="truncate">
            <SubjectLink row={row} places={places} />
          </p>
          <p className="truncate text-xs text-ink-soft">
            <ScopeLink row={row} places={places} />
          </p>
        </>
      )}
    </div>
  );
}

function Used({ row }: { readonly row: LimitRow }) {
  const { usage, metric } = row;
  if (usage === null)
    return <span className="text-ink-faint">{row.enabled ? text.states.empty : words.notInForce}</span>;
  const parts = [
    words.usedWords(shortAmountOf(metric, usage.used)),
    ...(usage.reserved > 0 ? [words.reservedWords(shortAmountOf(metric, usage.reserved))] : []),
    words.leftWords(shortAmountOf(metric, usage.remaining)),
  ];
  return (
    <div className="w-full min-w-32 md:min-w-56">
      <FillBar usage={usage} />
      <p className="mt-1 flex flex-wrap gap-x-1.5 text-xs text-ink-faint tabular-nums">
        {parts.map((part, index) => (
          <span key={part} className={index === parts.length - 1 ? 'ml-auto text-ink-soft' : ''}>
            {part}
          </span>
        ))}
      </p>
    </div>
  );
}
