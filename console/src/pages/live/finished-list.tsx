import type { RequestLogEntry } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatCount, formatDuration } from '../../format/numbers.ts';
import { formatClock } from '../../format/times.ts';
import { causeOf } from '../../parts/failure-words.ts';
import { stateTones } from '../../parts/request-state-badge.tsx';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { WaitBar } from '../../ui/wait-bar.tsx';
import { cells } from './columns.ts';
import { LiveTable } from './live-table.tsx';
import type { Finished } from './use-finished.ts';

const words = text.live.finished;
const SKELETON_ROWS = ['a', 'b', 'c', 'd', 'e'] as const;
const SCALE_MS_MIN = 1_000;

interface FinishedListProps {
  readonly finished: Finished;
  readonly nameOf: (endpointId: string) => string | undefined;
}

/** The latest finished requests; each links to its page. */
export function FinishedList({ finished: { entries, state }, nameOf }: FinishedListProps) {
  return (
    <Panel
      title={words.title}
      actions={
        <Link to="/requests" search={{ range: '1h' }} className="link text-xs text-ink-faint">
          {words.all}
        </Link>
      }
    >
      <div className="px-4">
        {state === 'failed' && entries === undefined ? (
          <p className="py-3 text-ink-soft">{words.failed}</p>
        ) : entries === undefined ? (
          SKELETON_ROWS.map((row) => (
            <div key={row} className="flex h-[30px] items-center border-b">
              <Skeleton className="w-full" />
            </div>
          ))
        ) : entries.length === 0 ? (
          <p className="py-3 text-ink-soft">{words.none}</p>
        ) : (
          <FinishedTable entries={entries} nameOf={nameOf} />
        )}
      </div>
    </Panel>
  );
}

function FinishedTable({ entries, nameOf }: TableProps) {
  const { columns } = words;
  const scaleMs = Math.max(SCALE_MS_MIN, ...entries.map((entry) => entry.duration_ms));
  return (
    <LiveTable
      title={words.title}
      heads={[
        [columns.time],
        [columns.model, 'w-1/3'],
        [columns.endpoint, 'w-1/3 max-md:hidden'],
        [
          <span key="bar" className="sr-only">
            {columns.bar}
          </span>,
          'max-sm:hidden',
        ],
        [columns.waited, 'text-right'],
        [columns.rest, 'text-right max-sm:hidden'],
        [columns.fallbacks, 'text-right max-md:hidden'],
        [columns.status, 'pr-0'],
      ]}
    >
      {entries.map((entry) => (
        <FinishedRow
          key={entry.request_id}
          entry={entry}
          endpoint={nameOf(entry.endpoint_id ?? '')}
          scaleMs={scaleMs}
        />
      ))}
    </LiveTable>
  );
}

interface TableProps {
  readonly entries: readonly RequestLogEntry[];
  readonly nameOf: (endpointId: string) => string | undefined;
}

interface FinishedRowProps {
  readonly entry: RequestLogEntry;
  readonly endpoint: string | undefined;
  readonly scaleMs: number;
}

function FinishedRow({ entry, endpoint, scaleMs }: FinishedRowProps) {
  const { wait_ms: waitMs, duration_ms: durationMs, fallback_count: fallbacks } = entry;
  const restMs = Math.max(0, durationMs - waitMs);
  const none = text.states.empty;
  return (
    <tr className="relative border-b hover:bg-hover">
      <td className="pr-3 font-mono text-xs whitespace-nowrap text-ink-faint">
        <Time at={entry.finished_at} format={formatClock} />
      </td>
      <td className={cells.text}>
        <Link to="/requests/$requestId" params={{ requestId: entry.request_id }} className={cells.link}>
          {entry.model ?? text.requests.noModel}
        </Link>
      </td>
      <td className={classes(cells.text, 'text-ink-soft max-md:hidden')}>{endpoint ?? none}</td>
      <td className="pr-3 max-sm:hidden">
        <WaitBar waitMs={waitMs} restMs={restMs} failed={entry.state === 'failed'} scaleMs={scaleMs} />
      </td>
      <td
        className={classes(
          'pr-3 text-right whitespace-nowrap',
          waitMs > 0 ? 'text-wait-ink' : 'text-ink-faint',
        )}
      >
        {waitMs > 0 ? formatDuration(waitMs) : none}
      </td>
      <td className="pr-3 text-right whitespace-nowrap max-sm:hidden">
        {entry.endpoint_id === null ? none : formatDuration(restMs)}
      </td>
      <td
        className={classes('pr-3 text-right max-md:hidden', fallbacks > 0 ? 'text-warn' : 'text-ink-faint')}
      >
        {formatCount(fallbacks)}
      </td>
      <td className="max-w-52 truncate text-xs max-sm:max-w-28">
        <Signal tone={stateTones[entry.state]}>{failureOf(entry)}</Signal>
      </td>
    </tr>
  );
}

/** Prefers the cause to the state. */
function failureOf({ state, error_code: code }: RequestLogEntry): string {
  return state === 'failed' && code !== null ? causeOf(code) : text.requests.states[state];
}
