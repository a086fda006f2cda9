import type { Health } from '@relay/contract';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';

const DOTS_MAX = 6;
const WAITING_MAX = 4;
const TRIP_MS = 4_200;
/** Golden-ratio steps keep dots apart without moving existing ones. */
const STEP = 0.618;
const PLACES = Array.from({ length: DOTS_MAX }, (_, index) => (0.12 + index * STEP) % 1);
const PLACES_IN_LINE = Array.from({ length: WAITING_MAX }, (_, index) => index);

/** Requests do not go to these endpoints now. */
const LINES: Partial<Record<Health, string>> = {
  down: 'border-dashed border-bad/50',
  rate_limited: 'border-dashed border-warn/50',
};
const TIPS: Partial<Record<Health, string>> = { down: 'border-l-bad/60', rate_limited: 'border-l-warn/60' };

interface FlowTrackProps {
  readonly waiting: number;
  readonly inFlight: number;
  readonly health: Health;
  readonly isStill: boolean;
}

/**
 * The track from a lane to an endpoint: waiting requests queue at the gate, requests in flight move. Decorative;
 * text states the same.
 */
export function FlowTrack({ waiting, inFlight, health, isStill }: FlowTrackProps) {
  return (
    <div aria-hidden className="flex h-6 min-w-0 items-center gap-1.5">
      {waiting === 0 ? null : <Waiting count={waiting} />}
      <div className="relative h-6 min-w-0 flex-1 overflow-hidden">
        <div
          className={classes(
            'absolute inset-x-0 top-1/2 border-t',
            inFlight > 0 ? 'border-line-strong' : (LINES[health] ?? 'border-line'),
          )}
        />
        {PLACES.slice(0, inFlight).map((place) => (
          <Dot key={place} place={place} isStill={isStill} />
        ))}
      </div>
      {inFlight > DOTS_MAX ? <More count={inFlight - DOTS_MAX} tone="text-ink" /> : null}
      <span
        className={classes(
          'size-0 shrink-0 border-y-4 border-l-6 border-y-transparent',
          inFlight > 0 ? 'border-l-ink' : (TIPS[health] ?? 'border-l-line-strong'),
        )}
      />
    </div>
  );
}

function Waiting({ count }: { readonly count: number }) {
  return (
    <span className="flex shrink-0 items-center gap-1">
      {count > WAITING_MAX ? <More count={count - WAITING_MAX} tone="text-warn" /> : null}
      {PLACES_IN_LINE.slice(0, count).map((place) => (
        <span key={place} className="size-2 rounded-full border-[1.5px] border-warn" />
      ))}
      <span className="ml-0.5 h-3.5 w-0.5 rounded bg-warn" />
    </span>
  );
}

function More({ count, tone }: { readonly count: number; readonly tone: string }) {
  return (
    <span className={classes('shrink-0 text-[11px] font-medium tabular-nums', tone)}>
      {text.live.board.more(formatCount(count))}
    </span>
  );
}

/** The legend of the dots. */
export function FlowLegend() {
  return (
    <span className="flex items-center gap-3 whitespace-nowrap">
      <span className="flex items-center gap-1.5">
        <span className="size-2 rounded-full border-[1.5px] border-warn" />
        {text.live.totals.waiting}
      </span>
      <span className="flex items-center gap-1.5">
        <span className="size-2 rounded-full bg-served" />
        {text.live.totals.inFlight}
      </span>
    </span>
  );
}

/** The wrapper is as wide as the track, so that percentages of its width move a dot without layout. */
function Dot({ place, isStill }: { readonly place: number; readonly isStill: boolean }) {
  return (
    <span
      className="absolute inset-y-0 right-2 left-0 motion-safe:animate-travel"
      style={{
        transform: `translateX(${place * 100}%)`,
        animationDelay: `${-place * TRIP_MS}ms`,
        animationPlayState: isStill ? 'paused' : 'running',
      }}
    >
      <span className="absolute top-1/2 left-0 size-2 -translate-y-1/2 rounded-full bg-served" />
    </span>
  );
}
