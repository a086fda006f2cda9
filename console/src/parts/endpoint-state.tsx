import { healthName } from '@relay/contract/words';
import { formatCount } from '../format/numbers.ts';
import { formatSpan } from '../format/spans.ts';
import { text } from '../text/index.ts';
import { classes } from '../ui/class-names.ts';
import { Meter } from '../ui/meter.tsx';
import { Signal } from '../ui/signal.tsx';
import { type EndpointLoad, isFull } from './endpoint-load.ts';
import { healthTones } from './health-badge.tsx';
import { isUnwell } from './health-order.ts';

const words = text.health;

/** Requests in flight of the limit, as a meter and as text. */
export function InFlight({ of }: { readonly of: EndpointLoad }) {
  const { inFlightOfAll: count, inFlightMax: max } = of;
  return (
    <span className="flex items-center gap-1.5 pr-2 text-xs">
      {max === null ? (
        <span className="w-[40px] max-sm:hidden" />
      ) : (
        <Meter
          share={max === 0 ? 1 : count / max}
          fill={isFull(of) ? 'full' : 'room'}
          className="w-[40px] shrink-0 max-sm:hidden"
        />
      )}
      <span className={classes('whitespace-nowrap', count === 0 && 'text-ink-faint')}>
        {inFlightWords(of)}
        <span className="sr-only"> {words.inAll}</span>
      </span>
    </span>
  );
}

/** 8 of 20; without a limit, 8. */
export function inFlightWords({ inFlightOfAll: count, inFlightMax: max }: EndpointLoad): string {
  return max === null ? formatCount(count) : words.ofMax(formatCount(count), formatCount(max));
}

/** What is wrong with its reason and its end; at its limit an endpoint is well, and requests wait for it. */
export function EndpointSignal({ of }: { readonly of: EndpointLoad }) {
  const { health, reason } = of;
  const isWrong = isUnwell(health);
  return (
    <span className="min-w-0 text-xs" title={isWrong ? (reason ?? undefined) : undefined}>
      <Signal tone={healthTones[health]}>{!isWrong && isFull(of) ? words.atLimit : stateWords(of)}</Signal>
      {isWrong && reason !== null ? (
        <span className="block truncate pl-[22px] text-[11px] leading-[13px] text-ink-faint">{reason}</span>
      ) : null}
    </span>
  );
}

function stateWords({ health, forMs, coolingMs, inFlightOfAll }: EndpointLoad): string {
  if (health === 'rate_limited' && coolingMs !== null) return words.limitedFor(formatCooling(coolingMs));
  if (health === 'down' && forMs !== null) return words.downFor(formatSpan(forMs));
  if (health === 'degraded' && forMs !== null) return words.degradedFor(formatSpan(forMs));
  // Health counts ended requests, so an endpoint with its first one in flight is not idle.
  if (health === 'unknown' && inFlightOfAll > 0) return words.noResult;
  return healthName(health);
}

const MINUTE_MS = 60_000;
const SECONDS_BELOW_MS = 2 * MINUTE_MS;

/** The rest of a cooldown, in seconds near its end. */
function formatCooling(milliseconds: number): string {
  if (milliseconds < SECONDS_BELOW_MS) return formatSpan(milliseconds);
  return formatSpan(Math.ceil(milliseconds / MINUTE_MS) * MINUTE_MS);
}
