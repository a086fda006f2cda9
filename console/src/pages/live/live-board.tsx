import { useMemo, useState } from 'react';
import { useLaneFigures } from '../../parts/use-lane-figures.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/class-names.ts';
import { SearchInput } from '../../ui/search-input.tsx';
import { NothingMatches, Skeleton } from '../../ui/states.tsx';
import { type BoardLane, shownLanes } from './board-rows.ts';
import { columns } from './columns.ts';
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
  /** There, nothing is searched, and what fits on the screen is what has trouble. */
  readonly isWall: boolean;
  /** When the board was read, by this browser's clock. */
  readonly readAtMs: number;
}

/** Every lane: its queue on the left, its endpoints on the right, requests between them. */
export function LiveBoard({ board, recent, query, onQuery, isStill, isWall, readAtMs }: LiveBoardProps) {
  const [withQuiet, setWithQuiet] = useState(false);
  const dayOf = useLaneFigures(isStill);
  const shown = useMemo(
    () => (board === undefined ? undefined : shownLanes(board, { query, recent, withQuiet, isWall })),
    [board, query, recent, withQuiet, isWall],
  );
  return (
    <div className="min-w-0 space-y-3">
      {!isWall && (query !== '' || (board?.length ?? 0) >= SEARCHED_FROM) ? (
        <SearchInput label={words.search} value={query} onChange={onQuery} />
      ) : null}
      {shown?.rows.length === 0 ? (
        <NothingMatches onClear={() => onQuery('')} />
      ) : (
        <section className="border-t-2 border-rule">
          <h2 className="sr-only">{words.board.title}</h2>
          <Headings />
          <ul>
            {shown === undefined
              ? SKELETON_LANES.map((each) => <LaneSkeleton key={each} />)
              : shown.rows.map((lane) => (
                  <LaneFlow
                    key={lane.id ?? ''}
                    lane={lane}
                    day={dayOf(lane.id ?? '')}
                    isStill={isStill}
                    readAtMs={readAtMs}
                  />
                ))}
          </ul>
          <p className="pt-2 text-xs text-ink-faint">{words.board.dayNote}</p>
        </section>
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
  const { board } = words;
  return (
    <div
      aria-hidden
      className={classes(
        'grid h-[30px] items-center border-b border-line-strong text-xs font-medium text-ink-faint [font-stretch:95%] max-lg:hidden',
        columns.lane,
      )}
    >
      <span>{board.lane}</span>
      <span className="pr-[7px] text-right">{board.queue}</span>
      <span className="pl-2">{board.gate}</span>
      <span className={classes('grid max-xl:pl-3', columns.way)}>
        <span className="max-xl:hidden" />
        <span className="max-xl:hidden">{board.ways}</span>
        <span className="pl-4 xl:pl-7">{board.endpoint}</span>
        <span>{board.load}</span>
        <span>{board.health}</span>
      </span>
      <span className={columns.day}>
        <span>{board.day.requests}</span>
        <span>{board.day.wait}</span>
        <span>{board.day.fallbacks}</span>
      </span>
    </div>
  );
}

function LaneSkeleton() {
  return (
    <li className={classes('grid gap-x-4 gap-y-2 border-b py-3', columns.lane)}>
      <Skeleton className="w-24" />
      <Skeleton className="w-full" />
      <Skeleton className="w-14" />
      <Skeleton className="w-full" />
    </li>
  );
}
