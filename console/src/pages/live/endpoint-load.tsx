import { Link } from '@tanstack/react-router';
import { formatCount } from '../../format/numbers.ts';
import { HealthBadge } from '../../parts/health-badge.tsx';
import { isUnwell } from '../../parts/is-unwell.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/class-names.ts';
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
        {rank ?? '–'}
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
            share >= 1 ? 'bg-warn' : share >= FULL_SHARE ? 'bg-warn/70' : 'bg-accent',
          )}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </span>
  );
}

/** Healthy is shown without emphasis. */
function Health({ endpoint: { health, coolingMs } }: { readonly endpoint: BoardEndpoint }) {
  if (!isUnwell(health))
    return (
      <span className="flex items-center gap-1.5 text-xs text-ink-faint sm:justify-self-end">
        <span aria-hidden className="size-1.5 rounded-full bg-good" />
        {text.health.healthy}
      </span>
    );
  return (
    <span className="flex max-sm:order-last max-sm:col-span-3 max-sm:col-start-2 sm:justify-self-end">
      {coolingMs === null ? (
        <HealthBadge health={health} />
      ) : (
        <Badge tone="warn" dot>
          <span className="tabular-nums">{words.cooling(formatCooling(coolingMs))}</span>
        </Badge>
      )}
    </span>
  );
}
