import type { Health, Lane } from '@relay/contract';
import { formatCount } from '../../format/numbers.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { Car } from '../../parts/priority-car.tsx';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import type { BoardLane } from './board-rows.ts';
import { WAY_PX } from './columns.ts';

type Priority = Lane['priority'];

const CARS_MAX = 8;
const QUEUE_MAX = 12;
const TRIP_MS = 4_200;
/** Golden-ratio steps keep cars apart without moving existing ones. */
const STEP = 0.618;
const PLACES = Array.from({ length: CARS_MAX }, (_, index) => (0.12 + index * STEP) % 1);

interface QueueRailProps {
  /** The next to go last. */
  readonly queue: BoardLane['queue'];
}

/** Requests before the gate by priority, the next at its right; they stand on yellow. Decorative; text states the same. */
export function QueueRail({ queue }: QueueRailProps) {
  const waiting = queue.reduce((sum, { count }) => sum + count, 0);
  const cars = carsOf(queue);
  return (
    <div aria-hidden className="flex h-[28px] items-end justify-end border-b-2 border-line-strong">
      {waiting === 0 ? null : (
        <span className="-mb-[2px] flex h-[27px] items-end gap-[3px] border-b-[5px] border-l-2 border-wait bg-wait-wash px-[7px] pb-[2px] shadow-[inset_0_-1px_0_var(--wait-edge),0_1px_0_var(--wait-edge)]">
          {waiting > QUEUE_MAX ? (
            <span className="mr-1 text-xs font-medium text-wait-ink">
              {text.live.board.more(formatCount(waiting - QUEUE_MAX))}
            </span>
          ) : null}
          {cars.map((priority, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a place in the queue is what the car draws
            <Car key={place} priority={priority} className="h-[15px] w-[8px]" />
          ))}
        </span>
      )}
    </div>
  );
}

/** Those nearest to the gate. */
function carsOf(queue: BoardLane['queue']): readonly Priority[] {
  return queue
    .flatMap(({ priority, count }) => Array.from({ length: Math.min(count, QUEUE_MAX) }, () => priority))
    .slice(-QUEUE_MAX);
}

/** The ways from the gate to each endpoint; no requests go along a dashed one. */
export function Turnout({ healths }: { readonly healths: readonly Health[] }) {
  const top = 27;
  return (
    <svg
      aria-hidden="true"
      width="44"
      height={Math.max(1, healths.length) * WAY_PX}
      className="pointer-events-none absolute top-0 left-0 text-line-strong max-xl:hidden"
    >
      {healths.map((health, index) => {
        const y = top + index * WAY_PX;
        return index === 0 ? null : (
          <path
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is what the path draws
            key={index}
            d={`M0,${top} H8 C24,${top} 20,${y} 36,${y} H44`}
            fill="none"
            stroke="currentColor"
            strokeWidth="2"
            {...(isUnwell(health) && { strokeDasharray: '3 3' })}
          />
        );
      })}
    </svg>
  );
}

interface FlowTrackProps {
  readonly inFlight: number;
  readonly health: Health;
  readonly priority: Priority;
  /** The first way goes straight on from the gate. */
  readonly isFirst: boolean;
  readonly isStill: boolean;
}

/** Requests on their way to an endpoint. Decorative; text states the same. */
export function FlowTrack({ inFlight, health, priority, isFirst, isStill }: FlowTrackProps) {
  return (
    <div
      aria-hidden
      className={classes(
        'relative h-[28px] self-start overflow-hidden border-b-2 border-line-strong max-xl:hidden',
        isFirst ? 'col-span-2' : 'col-start-2',
        isUnwell(health) && 'border-dashed',
      )}
    >
      {PLACES.slice(0, inFlight).map((place) => (
        <span
          key={place}
          // As wide as the track, so that percentages of its width move a car without layout.
          className={classes(
            'absolute inset-y-0 right-2 motion-safe:animate-travel',
            isFirst ? 'left-[44px]' : 'left-0',
          )}
          style={{
            transform: `translateX(${place * 100}%)`,
            animationDelay: `${-place * TRIP_MS}ms`,
            animationPlayState: isStill ? 'paused' : 'running',
          }}
        >
          <Car priority={priority} className="absolute bottom-[2px] left-0 h-[12px]" />
        </span>
      ))}
      {inFlight > CARS_MAX ? (
        <span className="absolute top-0 right-1 bg-canvas pl-1 text-[11px] leading-4 font-medium text-ink-soft">
          {text.live.board.more(formatCount(inFlight - CARS_MAX))}
        </span>
      ) : null}
    </div>
  );
}
