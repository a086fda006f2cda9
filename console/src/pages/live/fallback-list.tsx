import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { formatDuration } from '../../format/numbers.ts';
import { shortId } from '../../format/short-id.ts';
import { formatClock } from '../../format/times.ts';
import { stateTones } from '../../parts/request-state-badge.tsx';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { cells } from './columns.ts';
import type { FallbackRow } from './fallback-rows.ts';
import { LiveTable } from './live-table.tsx';
import type { Fallbacks } from './use-fallbacks.ts';

const words = text.live.fallbacks;

interface FallbackListProps {
  readonly fallbacks: Fallbacks;
  readonly nameOf: (endpointId: string) => string | undefined;
}

/** Which requests fell back, from where to where, why, and how long that took; each links to its page. */
export function FallbackList({ fallbacks: { rows, isWhole, isFailed }, nameOf }: FallbackListProps) {
  return (
    <Panel
      title={words.title}
      actions={
        <Link
          to="/requests"
          search={{ fell_back: true, range: '1h' }}
          className="link text-xs text-ink-faint"
        >
          {words.all}
        </Link>
      }
    >
      <div className="px-4">
        {isFailed ? <p className="py-3 text-ink-soft">{words.failed}</p> : null}
        {rows === undefined ? (
          isFailed ? null : (
            <Skeleton className="my-3.5 w-full" />
          )
        ) : rows.length === 0 ? (
          <p className="py-3 text-ink-soft">{isWhole ? words.none : words.noneFound}</p>
        ) : (
          <FallbackTable rows={rows} nameOf={nameOf} />
        )}
      </div>
    </Panel>
  );
}

interface TableProps extends Pick<FallbackListProps, 'nameOf'> {
  readonly rows: readonly FallbackRow[];
}

function FallbackTable({ rows, nameOf }: TableProps) {
  const { columns } = words;
  return (
    <LiveTable
      title={words.title}
      heads={[
        [columns.time],
        [columns.model, 'w-1/4 max-md:w-1/3'],
        [columns.endpoints, 'w-1/3 max-md:w-2/3'],
        [columns.reason, 'w-1/4 max-md:hidden'],
        [columns.lost, 'text-right max-md:pr-0'],
        [columns.status, 'pr-0 max-md:hidden'],
      ]}
    >
      {rows.map((row) => (
        <Row key={row.requestId} row={row} nameOf={nameOf} />
      ))}
    </LiveTable>
  );
}

interface RowProps extends Pick<FallbackListProps, 'nameOf'> {
  readonly row: FallbackRow;
}

function Row({ row, nameOf }: RowProps) {
  const { requestId, finishedAt, model, state, lostMs } = row;
  const reasons = row.reasons.join(', ');
  return (
    <tr className="relative border-b hover:bg-hover">
      <td className="pr-3 font-mono text-xs whitespace-nowrap text-ink-faint">
        <Time at={finishedAt} format={formatClock} />
      </td>
      <td className={cells.text}>
        <Link to="/requests/$requestId" params={{ requestId }} className={cells.link}>
          {model ?? text.requests.noModel}
        </Link>
      </td>
      <td className={classes(cells.text, 'max-md:py-1')}>
        <Way names={row.endpointIds.map((id) => nameOf(id) ?? shortId(id))} />
        <span className="block truncate text-xs text-warn md:hidden">{reasons}</span>
      </td>
      <td className={classes(cells.text, 'text-warn max-md:hidden')} title={reasons}>
        {reasons}
      </td>
      <td className="pr-3 text-right whitespace-nowrap max-md:pr-0">{formatDuration(lostMs)}</td>
      <td className="text-xs max-md:hidden">
        <Signal tone={stateTones[state]}>{text.requests.states[state]}</Signal>
      </td>
    </tr>
  );
}

/** "Primary → Backup". */
function Way({ names }: { readonly names: readonly string[] }) {
  return names.map((name, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a finished request does not change
    <Fragment key={index}>
      {index === 0 ? null : (
        <span className="text-ink-faint">
          <span aria-hidden> → </span>
          <span className="sr-only"> {words.to} </span>
        </span>
      )}
      {name}
    </Fragment>
  ));
}
