import { useMemo, useState } from 'react';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { NothingMatches, Skeleton } from '../../ui/states.tsx';
import { type BoardLane, shownLanes } from './board-rows.ts';
import { columns } from './columns.ts';
import { FlowLegend } from './flow-track.tsx';
import { LaneFlow } from './lane-flow.tsx';

const words = text.live;
const SKELETON_LANES = ['a', 'b', 'c'] as const;
/** Below this number, no search is needed. */
const SEARCHED_FROM = 6;

interface LiveBoardProps {
  readonly board: readonly BoardLane[] | undefined;
  readonly recent: ReadonlySet<string>;
  readonly query: string;
  readonly onQuery: (query: string) => void;
  /** Stops the animation: paused or disconnected. */
  readonly isStill: boolean;
}

/** Lanes on the left, endpoints on the right, requests between them. */
export function LiveBoard({ board, recent, query, onQuery, isStill }: LiveBoardProps) {
  const [withQuiet, setWithQuiet] = useState(false);
  const shown = useMemo(
    () => (board === undefined ? undefined : shownLanes(board, { query, recent, withQuiet })),
    [board, query, recent, withQuiet],
  );
  return (
    <div className="min-w-0 space-y-3">
      {query !== '' || (board?.length ?? 0) >= SEARCHED_FROM ? (
        <SearchInput label={words.search} value={query} onChange={onQuery} />
      ) : null}
      {shown?.rows.length === 0 ? (
        <NothingMatches onClear={() => onQuery('')} />
      ) : (
        <Panel>
          <h2 className="sr-only">{words.board.title}</h2>
          <Headings />
          <ul className="divide-y">
            {shown === undefined
              ? SKELETON_LANES.map((each) => <LaneSkeleton key={each} />)
              : shown.rows.map((lane) => <LaneFlow key={lane.id ?? ''} lane={lane} isStill={isStill} />)}
          </ul>
        </Panel>
      )}
      {shown === undefined || query !== '' || (shown.hidden === 0 && !withQuiet) ? null : (
        <Button look="quiet" size="small" onClick={() => setWithQuiet(!withQuiet)}>
          {withQuiet ? words.board.hideQuiet : words.board.showQuiet(shown.hidden)}
        </Button>
      )}
    </div>
  );
}

/** The column headings; narrow windows stack columns and hide them. */
function Headings() {
  return (
    <div
      aria-hidden
      className={classes(
        'grid h-9 items-center gap-x-4 border-b px-4 text-xs font-medium text-ink-faint max-lg:hidden',
        columns.lane,
      )}
    >
      <span>{words.board.lane}</span>
      <span className={classes('grid gap-x-4', columns.way)}>
        <FlowLegend />
        <span className={classes('grid gap-x-2.5', columns.endpoint)}>
          <span className="col-span-2">{words.board.endpoint}</span>
          <span className="text-right">{words.board.load}</span>
          <span className="text-right">{words.board.health}</span>
        </span>
      </span>
    </div>
  );
}

function LaneSkeleton() {
  return (
    <li className={classes('grid gap-x-4 gap-y-2 px-4 py-3', columns.lane)}>
      <div className="space-y-2.5 pt-1.5">
        <Skeleton className="w-24" />
        <Skeleton className="w-16" />
      </div>
      <div className="space-y-4 pt-1.5">
        <Skeleton className="w-full" />
        <Skeleton className="w-full" />
      </div>
    </li>
  );
}
