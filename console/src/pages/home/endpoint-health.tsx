import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { endpointsQuery, HEALTH_REFRESH } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount } from '../../format/numbers.ts';
import { HealthBadge } from '../../parts/health-badge.tsx';
import { healthOrder, isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { healthCounts } from './health-counts.ts';

const words = text.home;
const ROWS = 5;

/** Enabled endpoints, unhealthy ones first. */
export function EndpointHealth() {
  const { data, error } = useQuery({ ...endpointsQuery(useApi()), ...HEALTH_REFRESH });
  const enabled = data?.filter((each) => each.enabled);
  const rows = enabled
    ?.toSorted((a, b) => healthOrder.indexOf(a.health) - healthOrder.indexOf(b.health))
    .slice(0, ROWS);
  const more = (enabled?.length ?? 0) - (rows?.length ?? 0);
  return (
    <Panel
      title={words.endpoints}
      actions={
        <Link to="/endpoints" className="text-xs link">
          {words.viewAll}
          <span className="sr-only"> {words.endpoints}</span>
        </Link>
      }
    >
      <ErrorNote error={data === undefined ? error : null} className="m-3" />
      {rows === undefined && error === null ? (
        <div className="space-y-6 px-4 py-4">
          <Skeleton className="w-40" />
          <Skeleton className="w-32" />
          <Skeleton className="w-36" />
        </div>
      ) : rows?.length === 0 ? (
        <p className="px-4 py-3 text-ink-soft">{words.noEndpoints}</p>
      ) : (
        <ul className="mx-4">
          {rows?.map(({ id, name, upstream_model: model, health, health_detail: { reason } }) => (
            <li key={id} className="relative flex h-[34px] items-center gap-3 border-b hover:bg-hover">
              <Link
                to="/endpoints"
                search={{ open: id }}
                className="min-w-0 shrink truncate font-medium after:absolute after:inset-0 after:content-['']"
              >
                {name}
              </Link>
              <span
                className="min-w-0 flex-1 truncate text-xs text-ink-faint"
                title={isUnwell(health) && reason !== null ? reason : model}
              >
                {isUnwell(health) && reason !== null ? reason : model}
              </span>
              <HealthBadge health={health} />
            </li>
          ))}
        </ul>
      )}
      {enabled === undefined || enabled.length === 0 ? null : (
        <p className="flex justify-between gap-3 px-4 py-2 text-xs text-ink-faint">
          <span>{healthCounts(enabled.map(({ health }) => health))}</span>
          {more > 0 ? <span>{words.more(formatCount(more))}</span> : null}
        </p>
      )}
    </Panel>
  );
}
