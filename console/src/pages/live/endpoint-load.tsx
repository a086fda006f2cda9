import { healthName } from '@relay/contract/words';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../format/numbers.ts';
import { formatSpan } from '../../format/spans.ts';
import { HealthDot } from '../../parts/health-badge.tsx';
import { isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Signal } from '../../ui/signal.tsx';
import type { BoardEndpoint } from './board-rows.ts';
import { columns } from './columns.ts';
import { formatCooling } from './format-wait.ts';

const words = text.live.board;
const FULL_SHARE = 0.8;

/** An endpoint in a lane: rank, load of all lanes and health. */
export function EndpointLoad({ endpoint }: { readonly endpoint: BoardEndpoint }) {
  const { id, name, rank } = endpoint;
  return (
    <div
      className={classes(
        'grid grid-cols-[20px_minmax(0,1fr)_auto_auto] items-center gap-x-2.5 gap-y-1',
        columns.endpoint,
      )}
    >
      <span className="grid size-5 place-items-center rounded bg-sunken text-[11px] text-ink-faint tabular-nums">
        {rank ?? text.states.empty}
      </span>
      <Link
        to="/endpoints"
        search={{ open: id }}
        title={name}
        className="min-w-0 truncate rounded text-[13px] font-medium hover:underline"
      >
        {name}
      </Link>
      <Load endpoint={endpoint} />
      <Health endpoint={endpoint} />
      {isUnwell(endpoint.health) && endpoint.reason !== null ? (
        <p className="col-span-3 col-start-2 text-xs break-words text-ink-soft max-sm:order-last">
          {endpoint.reason}
        </p>
      ) : null}
    </div>
  );
}

function Load({
  endpoint: { inFlightOfAll: count, inFlightMax: max },
}: {
  readonly endpoint: BoardEndpoint;
}) {
  if (max === null)
    return (
      <span
        className={classes(
          'text-right text-[13px] tabular-nums max-sm:order-1 max-sm:col-start-4 max-sm:min-w-8',
          count === 0 && 'text-ink-faint',
        )}
      >
        {formatCount(count)}
        <span className="sr-only"> {words.inAll}</span>
      </span>
    );
  const share = max === 0 ? 1 : Math.min(1, count / max);
  return (
    <span className="block max-sm:order-1 max-sm:col-start-4 max-sm:min-w-14">
      <span className={classes('block text-right text-[13px] tabular-nums', count === 0 && 'text-ink-faint')}>
        {words.ofMax(formatCount(count), formatCount(max))}
        <span className="sr-only"> {words.inAll}</span>
      </span>
      <span aria-hidden className="mt-0.5 block h-1 overflow-hidden rounded-full bg-line">
        <span
          className={classes(
            'block h-full rounded-full transition-[width] duration-500',
            share >= 1 ? 'bg-warn' : share >= FULL_SHARE ? 'bg-warn/70' : 'bg-served',
          )}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </span>
  );
}

/** Healthy and unknown are shown without emphasis. */
function Health({ endpoint }: { readonly endpoint: BoardEndpoint }) {
  const { health } = endpoint;
  if (!isUnwell(health))
    return (
      <span className="sm:justify-self-end">
        <HealthDot health={health} />
      </span>
    );
  return (
    <span className="flex max-sm:order-last max-sm:col-span-3 max-sm:col-start-2 sm:justify-self-end">
      <Signal tone={health === 'down' ? 'bad' : 'warn'}>
        <span className="tabular-nums">{stateWords(endpoint)}</span>
      </Signal>
    </span>
  );
}

function stateWords({ health, forMs, coolingMs }: BoardEndpoint): string {
  if (health === 'rate_limited' && coolingMs !== null) return words.limitedFor(formatCooling(coolingMs));
  if (health === 'down' && forMs !== null) return words.downFor(formatSpan(forMs));
  if (health === 'degraded' && forMs !== null) return words.degradedFor(formatSpan(forMs));
  return healthName(health);
}
