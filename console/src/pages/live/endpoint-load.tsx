import { healthName } from '@relay/contract/words';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../format/numbers.ts';
import { formatSpan } from '../../format/spans.ts';
import { healthTones } from '../../parts/health-badge.tsx';
import { isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Meter } from '../../ui/meter.tsx';
import { Signal } from '../../ui/signal.tsx';
import type { BoardEndpoint } from './board-rows.ts';
import { formatCooling } from './format-wait.ts';

const words = text.live.board;

/** An endpoint in a lane: rank, load of all lanes and signal, each a cell of the way. */
export function EndpointLoad({ endpoint }: { readonly endpoint: BoardEndpoint }) {
  const { id, name, rank } = endpoint;
  return (
    <>
      <span className="flex min-w-0 items-baseline gap-[7px] pr-2 xl:pl-3">
        <span className="w-[9px] shrink-0 text-right text-xs text-ink-faint">
          {rank ?? text.states.empty}
        </span>
        <Link
          to="/endpoints"
          search={{ open: id }}
          title={name}
          className="min-w-0 truncate rounded py-[3px] hover:underline"
        >
          {name}
        </Link>
      </span>
      <Load endpoint={endpoint} />
      <Health endpoint={endpoint} />
    </>
  );
}

function isFull({ inFlightOfAll: count, inFlightMax: max }: BoardEndpoint): boolean {
  return max !== null && count >= max;
}

function Load({ endpoint }: { readonly endpoint: BoardEndpoint }) {
  const { inFlightOfAll: count, inFlightMax: max } = endpoint;
  const said = max === null ? formatCount(count) : words.ofMax(formatCount(count), formatCount(max));
  return (
    <span className="flex items-center gap-1.5 pr-2 text-xs">
      {max === null ? (
        <span className="w-[40px] max-sm:hidden" />
      ) : (
        <Meter
          share={max === 0 ? 1 : count / max}
          fill={isFull(endpoint) ? 'full' : 'room'}
          className="w-[40px] shrink-0 max-sm:hidden"
        />
      )}
      <span className={classes('whitespace-nowrap', count === 0 && 'text-ink-faint')}>
        {said}
        <span className="sr-only"> {words.inAll}</span>
      </span>
    </span>
  );
}

/** What is wrong with its reason and its end; at its limit an endpoint is well, and requests wait for it. */
function Health({ endpoint }: { readonly endpoint: BoardEndpoint }) {
  const { health, reason } = endpoint;
  const isWrong = isUnwell(health);
  return (
    <span className="min-w-0 text-xs" title={isWrong ? (reason ?? undefined) : undefined}>
      <Signal tone={healthTones[health]}>
        {!isWrong && isFull(endpoint) ? words.atLimit : stateWords(endpoint)}
      </Signal>
      {isWrong && reason !== null ? (
        <span className="block truncate pl-[22px] text-[11px] leading-[13px] text-ink-faint">{reason}</span>
      ) : null}
    </span>
  );
}

function stateWords({ health, forMs, coolingMs, inFlightOfAll }: BoardEndpoint): string {
  if (health === 'rate_limited' && coolingMs !== null) return words.limitedFor(formatCooling(coolingMs));
  if (health === 'down' && forMs !== null) return words.downFor(formatSpan(forMs));
  if (health === 'degraded' && forMs !== null) return words.degradedFor(formatSpan(forMs));
  // Health counts ended requests, so an endpoint with its first one in flight is not idle.
  if (health === 'unknown' && inFlightOfAll > 0) return words.noResult;
  return healthName(health);
}
