import { Link } from '@tanstack/react-router';
import type { DayTraffic } from '../../api/traffic-stats-queries.ts';
import { formatCount, formatDuration } from '../../format/numbers.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { LaneFallbacks, LaneWait } from '../../parts/lane-figure.tsx';
import { boundLimitOf } from '../../parts/limit-metrics.ts';
import { PriorityName } from '../../parts/priority-car.tsx';
import { SlotPlate } from '../../parts/slot-plate.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import type { BoardEndpoint, BoardLane } from './board-rows.ts';
import { columns } from './columns.ts';
import { EndpointLoad } from './endpoint-load.tsx';
import { FlowTrack, QueueRail, Turnout } from './flow-track.tsx';
import { formatWait } from './format-wait.ts';
import { keepHeight } from './keep-height.ts';

const words = text.live.board;
/** Endpoints with requests and those that are not healthy are shown at any rank. */
const ENDPOINTS_SHOWN = 5;

interface LaneFlowProps {
  readonly lane: BoardLane;
  readonly day: DayTraffic | undefined;
  readonly isStill: boolean;
  /** When the board was read, by this browser's clock. */
  readonly readAtMs: number;
}

/** One lane: its queue, its gate, and the ways to its endpoints. */
export function LaneFlow({ lane, day, isStill, readAtMs }: LaneFlowProps) {
  return (
    <li
      ref={keepHeight}
      className={classes(
        'grid grid-cols-[minmax(0,1fr)_84px] content-start border-b py-2 [contain-intrinsic-size:auto_60px] [content-visibility:auto]',
        columns.lane,
      )}
    >
      <LaneName lane={lane} />
      <Queue lane={lane} />
      <Gate lane={lane} readAtMs={readAtMs} isStill={isStill} />
      <Ways lane={lane} isStill={isStill} />
      <Day day={day} />
    </li>
  );
}

function LaneName({ lane }: { readonly lane: BoardLane }) {
  const { priority, maxWaitMs } = lane;
  return (
    <div className="min-w-0 max-lg:col-span-2 max-lg:mb-1 max-lg:flex max-lg:items-center max-lg:justify-between max-lg:gap-3">
      <h3
        title={lane.name}
        className="truncate text-[14px] leading-[28px] font-semibold max-lg:max-w-1/2 max-lg:shrink-0"
      >
        {lane.id === null ? (
          lane.name
        ) : (
          <Link to="/lanes/$laneId" params={{ laneId: lane.id }} className="rounded hover:underline">
            {lane.name}
          </Link>
        )}
      </h3>
      <p className="flex flex-wrap gap-x-2 text-xs text-ink-faint max-lg:justify-end">
        {lane.id === null ? words.withoutLaneHint : null}
        {priority === null ? null : <PriorityName priority={priority} name={words.priorities[priority]} />}
        {maxWaitMs === null ? null : (
          <span className="whitespace-nowrap">{words.waitsAtMost(formatDuration(maxWaitMs))}</span>
        )}
        {lane.fallbacks === 0 ? null : (
          <span className="whitespace-nowrap text-warn">{words.fallbacks(lane.fallbacks)}</span>
        )}
        <Rejected lane={lane} />
      </p>
    </div>
  );
}

function Rejected({ lane: { id, rejections } }: { readonly lane: BoardLane }) {
  if (rejections === 0) return null;
  const search = { state: 'failed', range: '15m', ...(id !== null && { lane: id }) } as const;
  return (
    <Link to="/requests" search={search} className="whitespace-nowrap text-bad underline underline-offset-2">
      {words.rejected(formatCount(rejections))}
    </Link>
  );
}

function Queue({ lane }: { readonly lane: BoardLane }) {
  const isIdle = lane.waiting === 0 && lane.inFlight === 0;
  return (
    <div className="min-w-0">
      <QueueRail queue={lane.queue} />
      <p className="mt-1 pr-[7px] text-xs whitespace-nowrap text-ink-faint lg:text-right">
        {lane.waiting === 0 ? (
          isIdle ? (
            words.quiet
          ) : (
            words.queueEmpty
          )
        ) : (
          <>
            <b className="font-medium text-wait-ink">{words.waiting(formatCount(lane.waiting))}</b> ·{' '}
            {words.longest(formatWait(lane.longestWaitMs))}
            {lane.queue.length < 2 ? null : <span className="sr-only">{queueSentence(lane)}</span>}
          </>
        )}
      </p>
      {lane.waiting === 0 ? null : <LimitedBy limits={lane.limits} />}
    </div>
  );
}

/** The limit that most of the requests wait for. */
function LimitedBy({ limits }: { readonly limits: BoardLane['limits'] }) {
  const { can } = useAccess();
  const [first] = limits;
  if (first === undefined) return null;
  const rule = boundLimitOf(first);
  return (
    <p className="pr-[7px] text-xs text-pretty text-ink-soft lg:text-right">
      {words.limitedBy}{' '}
      {can('listLimitPolicies') && first.limit_value !== null ? (
        <Link to="/limits" search={{ open: first.policy_id }} className="link">
          {rule}
        </Link>
      ) : (
        rule
      )}
      {limits.length === 1 ? null : ` ${words.moreLimits}`}
    </p>
  );
}

/** When the next request of the queue can go. Behind a concurrency limit that is unknown: it goes when another one ends. */
function Gate({ lane, readAtMs, isStill }: Pick<LaneFlowProps, 'lane' | 'readAtMs' | 'isStill'>) {
  const { waiting, nextSlotMs } = lane;
  return (
    <div className="relative flex h-[28px] items-center border-b-2 border-line-strong pl-2">
      <span aria-hidden className="absolute -bottom-[5px] left-0 h-[33px] w-[2px] bg-ink" />
      <span className="sr-only">{words.gate}: </span>
      {waiting === 0 ? (
        <span title={words.noneWaitingHint} className="text-xs text-ink-faint">
          {words.noneWaiting}
        </span>
      ) : nextSlotMs === null ? (
        <span title={words.slotUnknownHint} className="text-[11px] leading-[13px] text-wait-ink">
          {words.slotUnknown}
        </span>
      ) : (
        <SlotPlate atMs={readAtMs + nextSlotMs} stillAtMs={isStill ? readAtMs : undefined} />
      )}
    </div>
  );
}

function queueSentence({ queue }: BoardLane): string {
  const parts = queue
    .toReversed()
    .map(({ priority, count }) => words.ofPriority(formatCount(count), priority));
  return ` (${parts.join(', ')})`;
}

function Ways({ lane, isStill }: { readonly lane: BoardLane; readonly isStill: boolean }) {
  const shown = lane.endpoints.filter((endpoint, index) => index < ENDPOINTS_SHOWN || isTelling(endpoint));
  const more = lane.endpoints.length - shown.length;
  if (lane.endpoints.length === 0)
    return <p className="self-center pl-3 text-warn max-lg:col-span-2 max-lg:pl-0">{words.noEndpoints}</p>;
  return (
    <ol className="relative min-w-0 max-xl:pl-3 max-lg:col-span-2 max-lg:mt-1.5 max-lg:pl-0">
      <Turnout healths={shown.map(({ health }) => health)} />
      {shown.map((endpoint, index) => (
        <li key={endpoint.id} className={classes('grid h-[32px] items-center', columns.way)}>
          <FlowTrack
            inFlight={endpoint.inFlight}
            health={endpoint.health}
            priority={lane.priority ?? 'standard'}
            isFirst={index === 0}
            isStill={isStill}
          />
          <EndpointLoad endpoint={endpoint} />
          <span className="sr-only">{sentence(endpoint)}</span>
        </li>
      ))}
      {more > 0 ? <li className="text-xs text-ink-faint">{words.moreEndpoints(more)}</li> : null}
    </ol>
  );
}

function Day({ day }: { readonly day: DayTraffic | undefined }) {
  return (
    <p className={classes('leading-[28px]', columns.day)}>
      <span>{day === undefined ? text.states.empty : formatCount(day.requests.total ?? 0)}</span>
      <LaneWait of={day} />
      <LaneFallbacks of={day} />
    </p>
  );
}

function isTelling({ waiting, inFlight, health }: BoardEndpoint): boolean {
  return waiting > 0 || inFlight > 0 || isUnwell(health);
}

/** The requests of this lane on the track. */
function sentence({ waiting, inFlight }: BoardEndpoint): string {
  const parts = [
    waiting > 0 ? words.waiting(formatCount(waiting)) : null,
    inFlight > 0 ? words.inFlight(formatCount(inFlight)) : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? '' : words.ofLane(parts.join(', '));
}
