import { formatShare } from '../../format/numbers.ts';
import { FillBar } from '../../parts/limit-bar.tsx';
import { roughAmountOf, ruleOf, takenShareOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { type Column, RowActions, RowName } from '../../ui/data-table.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Countdown } from './countdown.tsx';
import type { LimitRow } from './limit-row.ts';
import { whereOf } from './limit-words.ts';
import { type LimitState, type Outlook, type Standing, severityOf } from './outlook.ts';
import { ScopeLink, SubjectLink } from './scope-link.tsx';
import type { LimitPlaces } from './use-limit-places.ts';

const words = text.limits;

const TONES: Record<Exclude<LimitState, 'enabled'>, Tone> = {
  exhausted: 'bad',
  full: 'wait',
  close: 'warn',
  disabled: 'neutral',
};

/** A displayed limit with its position in the list. */
export interface RankedLimit extends Standing {
  readonly rank: number;
  /** The tightest limit of the selected lane. */
  readonly isFirst: boolean;
}

interface LimitActions {
  readonly open: (id: string) => void;
  /** Undefined for a limit that the caller can't change here. */
  readonly editOf: (row: LimitRow) => (() => void) | undefined;
}

export function limitColumns(
  places: LimitPlaces,
  { open, editOf }: LimitActions,
): readonly Column<RankedLimit>[] {
  return [
    {
      id: 'limit',
      header: words.columns.limit,
      width: 'max-w-0 w-1/4 max-md:w-1/2',
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
      // The rank counts from the top of the list, so its opposite grows with use.
      sortBy: ({ rank }) => -rank,
      width: 'md:w-1/4',
      cell: ({ row }) => <Used row={row} />,
    },
    {
      id: 'resets',
      header: words.columns.resets,
      from: 'sm',
      width: 'w-44',
      cell: ({ row, outlook }) => <Countdown row={row} outlook={outlook} />,
    },
    ...stateColumns(editOf),
  ];
}

/** How it stands, and what to do about one that rejects requests. */
function stateColumns(editOf: LimitActions['editOf']): readonly Column<RankedLimit>[] {
  return [
    {
      id: 'state',
      header: words.columns.state,
      from: 'sm',
      sortBy: severityOf,
      cell: ({ row, outlook, isFirst }) => (
        <span className="flex flex-wrap gap-1.5">
          <StateBadge outlook={outlook} />
          {isFirst ? <Badge tone="note">{words.bitesFirst}</Badge> : null}
          {row.enforcement === 'hard' ? <HardBadge /> : null}
          {row.fromFile ? <FileBadge /> : null}
        </span>
      ),
    },
    {
      id: 'actions',
      header: words.columns.actions,
      quietHeader: true,
      from: 'sm',
      align: 'right',
      cell: ({ row, outlook }) =>
        outlook.state === 'exhausted' ? <RaiseButton row={row} onClick={editOf(row)} /> : null,
    },
  ];
}

/** Normal is quiet; what is at its limit, nearly so, or before its reset at this rate, has a signal. */
export function StateBadge({ outlook: { state, runsOutMs } }: { readonly outlook: Outlook }) {
  if (state !== 'enabled') return <Signal tone={TONES[state]}>{words.states[state]}</Signal>;
  if (runsOutMs !== null) return <Signal tone="warn">{words.runsOut}</Signal>;
  return <span className="text-ink-soft">{words.states[state]}</span>;
}

/** What to do about a limit that rejects requests, where it is seen. */
function RaiseButton({
  row,
  onClick,
}: {
  readonly row: LimitRow;
  readonly onClick: (() => void) | undefined;
}) {
  if (onClick === undefined) return null;
  return (
    <RowActions>
      <Button size="small" aria-label={words.raiseLabel(ruleOf(row))} onClick={onClick}>
        {words.raise}
      </Button>
    </RowActions>
  );
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
    words.usedWords(roughAmountOf(metric, usage.used)),
    ...(usage.reserved > 0 ? [words.reservedWords(roughAmountOf(metric, usage.reserved))] : []),
    words.leftWords(roughAmountOf(metric, usage.remaining)),
  ];
  return (
    <div className="w-full min-w-32 md:min-w-56">
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1">
          <FillBar usage={usage} />
        </span>
        <span className="w-11 text-right text-xs font-medium whitespace-nowrap tabular-nums">
          {formatShare(takenShareOf(usage))}
        </span>
      </div>
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
