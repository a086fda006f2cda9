import type { Health } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { sumOf } from '../../api/usage-queries.ts';
import { formatCount, formatDuration } from '../../format/numbers.ts';
import { DaySpend, DayTraffic, known, SpendTotal } from '../../parts/day-figure.tsx';
import { ErrorShare, errorShareOf } from '../../parts/error-share.tsx';
import { healthOrder, isUnwell } from '../../parts/health-order.ts';
import { LaneFallbackCost, LaneFallbacks, LaneWait } from '../../parts/lane-figure.tsx';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type Column, nameWidth, RowActions, rowTarget } from '../../ui/data-table.tsx';
import { Plate } from '../../ui/plate.tsx';
import { LaneEndpoints, LaneSignal } from './lane-endpoints.tsx';
import { LaneMarks } from './lane-marks.tsx';
import { LaneMenu } from './lane-menu.tsx';
import { decidingEndpoint } from './member-health.ts';
import type { LaneMember, LaneRow } from './use-lane-rows.ts';

const words = text.lanes;

const identity: readonly Column<LaneRow>[] = [
  {
    id: 'name',
    header: words.columns.name,
    width: nameWidth,
    sortBy: ({ lane }) => lane.name,
    cell: (row) => <LaneName row={row} />,
    total: (rows) => words.total(rows.length),
  },
  {
    id: 'wait-budget',
    header: words.columns.waitBudget,
    align: 'right',
    sortBy: ({ lane }) => lane.default_max_wait_ms,
    cell: ({ lane }) => <Plate>{formatDuration(lane.default_max_wait_ms)}</Plate>,
  },
  {
    id: 'endpoints',
    header: words.columns.endpoints,
    from: 'sm',
    width: 'max-w-40 lg:max-w-64 xl:max-w-96',
    sortBy: ({ members }) => healthOrder.indexOf(members === undefined ? 'unknown' : healthOf(members)),
    cell: ({ members }) => <LaneEndpoints members={members} />,
  },
];

const traffic: readonly Column<LaneRow>[] = [
  {
    id: 'requests',
    header: words.columns.requests,
    align: 'right',
    sortBy: ({ figures }) => figures?.requests.total ?? -1,
    cell: ({ figures, failed }) => (
      <>
        <DayTraffic of={figures?.requests} />
        {(errorShareOf(failed) ?? 0) === 0 ? null : (
          <span className="block text-xs whitespace-nowrap sm:hidden">
            <ErrorShare of={failed} /> <span className="text-ink-faint">{words.failedShort}</span>
          </span>
        )}
        <span className="text-xs sm:hidden">
          <DaySpend of={figures} />
        </span>
      </>
    ),
    total: (rows) => known(sumOf(rows.map(({ figures }) => figures?.requests)), formatCount),
  },
  {
    id: 'wait',
    header: words.columns.wait,
    from: 'lg',
    align: 'right',
    sortBy: ({ figures }) => figures?.waitMsP95 ?? -1,
    cell: ({ figures }) => <LaneWait of={figures} />,
  },
  {
    id: 'failed',
    header: words.columns.failed,
    from: 'md',
    align: 'right',
    sortBy: ({ failed }) => errorShareOf(failed) ?? -1,
    cell: ({ failed }) => <ErrorShare of={failed} />,
  },
  {
    id: 'fallbacks',
    header: words.columns.fallbacks,
    from: 'xl',
    align: 'right',
    sortBy: ({ figures }) => figures?.fallbackRate ?? -1,
    cell: ({ figures }) => (
      <>
        <LaneFallbacks of={figures} />
        <LaneFallbackCost of={figures} />
      </>
    ),
  },
  {
    id: 'spend',
    header: words.columns.spend,
    from: 'sm',
    align: 'right',
    sortBy: ({ figures }) => figures?.spend.total ?? -1,
    cell: ({ figures }) => <DaySpend of={figures} />,
    total: (rows) => <SpendTotal of={rows.map(({ figures }) => figures)} />,
  },
];

const actions: Column<LaneRow> = {
  id: 'actions',
  header: words.columns.actions,
  quietHeader: true,
  align: 'right',
  cell: ({ lane }) => (
    <RowActions>
      <LaneMenu lane={lane} />
    </RowActions>
  ),
};

export const laneColumns: readonly Column<LaneRow>[] = [...identity, ...traffic, actions];

/** The name over the model name that clients send; in a narrow window, over what is wrong. */
function LaneName({ row: { lane, members } }: { readonly row: LaneRow }) {
  const isTroubled = members !== undefined && isUnwell(healthOf(members));
  return (
    <div className="min-w-0">
      <p className="flex min-w-0 items-center gap-2">
        <Link to="/lanes/$laneId" params={{ laneId: lane.id }} className={rowTarget}>
          {lane.name}
        </Link>
        <LaneMarks lane={lane} priorityFrom="max-sm:hidden" />
      </p>
      <p
        className={classes(
          'flex min-w-0 items-center gap-1 text-xs text-ink-faint',
          isTroubled && 'max-sm:hidden',
        )}
      >
        <code className="truncate font-mono">{lane.slug}</code>
        <span className="relative z-10 -my-1 max-sm:hidden">
          <CopyButton value={lane.slug} label={words.copySlug} />
        </span>
        <span className="truncate max-lg:hidden">{words.strategies[lane.selection]}</span>
      </p>
      {isTroubled ? (
        <p className="flex min-w-0 text-xs sm:hidden">
          <LaneSignal members={members} />
        </p>
      ) : null}
    </div>
  );
}

/** A lane without an endpoint that gets requests is as good as down. */
function healthOf(members: readonly LaneMember[]): Health {
  return decidingEndpoint(members)?.health ?? 'down';
}
