import { Link } from '@tanstack/react-router';
import { formatCount } from '../../format/numbers.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import type { BoardEndpoint, BoardLane } from './board-rows.ts';
import { columns } from './columns.ts';
import { EndpointLoad } from './endpoint-load.tsx';
import { FlowTrack } from './flow-track.tsx';
import { formatWait } from './format-wait.ts';

const words = text.live.board;
/** Endpoints with requests and those that are not healthy are shown at any rank. */
const ENDPOINTS_SHOWN = 5;

/** One lane: its queue and the tracks to its endpoints. */
export function LaneFlow({ lane, isStill }: { readonly lane: BoardLane; readonly isStill: boolean }) {
  const shown = lane.endpoints.filter((endpoint, index) => index < ENDPOINTS_SHOWN || isTelling(endpoint));
  const more = lane.endpoints.length - shown.length;
  return (
    <li className={classes('grid gap-x-4 gap-y-2 px-4 py-3', columns.lane)}>
      <LaneName lane={lane} />
      {lane.endpoints.length === 0 ? (
        <p className="self-center text-[13px] text-warn">{words.noEndpoints}</p>
      ) : (
        <ol className="min-w-0 space-y-1.5">
          {shown.map((endpoint) => (
            <li key={endpoint.id} className={classes('grid items-center gap-x-4', columns.way)}>
              <FlowTrack
                waiting={endpoint.waiting}
                inFlight={endpoint.inFlight}
                health={endpoint.health}
                isStill={isStill}
              />
              <EndpointLoad endpoint={endpoint} />
              <span className="sr-only">{sentence(endpoint)}</span>
            </li>
          ))}
          {more > 0 ? <li className="text-xs text-ink-faint">{words.moreEndpoints(more)}</li> : null}
        </ol>
      )}
    </li>
  );
}

function LaneName({ lane }: { readonly lane: BoardLane }) {
  return (
    <div className="min-w-0">
      <h3 title={lane.name} className="truncate text-[13px] leading-6 font-semibold">
        {lane.id === null ? (
          lane.name
        ) : (
          <Link to="/lanes/$laneId" params={{ laneId: lane.id }} className="rounded hover:underline">
            {lane.name}
          </Link>
        )}
      </h3>
      <p className="text-xs text-ink-faint tabular-nums">
        <LaneNumbers lane={lane} />
      </p>
    </div>
  );
}

function LaneNumbers({ lane }: { readonly lane: BoardLane }) {
  if (lane.waiting === 0 && lane.inFlight === 0)
    return lane.id === null ? words.withoutLaneHint : words.quiet;
  return (
    <>
      {lane.waiting === 0 ? null : (
        <>
          <span className="font-medium text-warn">
            {words.waiting(formatCount(lane.waiting))} · {formatWait(lane.longestWaitMs)}
          </span>
          <br />
        </>
      )}
      {lane.inFlight === 0 ? null : words.inFlight(formatCount(lane.inFlight))}
    </>
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
