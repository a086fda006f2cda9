import type { Endpoint } from '@relay/contract';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { DayTraffic } from '../../parts/day-figure.tsx';
import { type EndpointSums, sumOfAll } from '../../parts/endpoint-sums.ts';
import { ErrorShare, errorShareOf } from '../../parts/error-share.tsx';
import { HealthCell, StateBadges } from '../../parts/health-badge.tsx';
import { healthOrder, isUnwell } from '../../parts/health-order.ts';
import { LimitBar } from '../../parts/limit-bar.tsx';
import { SetPriceButton } from '../../parts/set-price-button.tsx';
import { spendColumns } from '../../parts/spend-columns.tsx';
import { text } from '../../text/index.ts';
import { type Column, nameWidth, RowName } from '../../ui/data-table.tsx';
import { TtftCell } from './ttft-cell.tsx';
import type { EndpointRow } from './use-endpoint-rows.ts';

const words = text.endpoints;

export function endpointColumns(
  open: (id: string) => void,
  pricesReadable: boolean,
): readonly Column<EndpointRow>[] {
  return [...identity(open), ...traffic, ...(pricesReadable ? [price] : []), ...rest];
}

function identity(open: (id: string) => void): readonly Column<EndpointRow>[] {
  return [
    {
      id: 'name',
      header: words.columns.name,
      width: nameWidth,
      sortBy: ({ endpoint }) => endpoint.name,
      cell: ({ endpoint }) => (
        <RowName note={endpoint.upstream_model} onOpen={() => open(endpoint.id)}>
          {endpoint.name}
        </RowName>
      ),
      total: (rows) => words.total(rows.length),
    },
    {
      id: 'provider',
      header: words.columns.provider,
      from: 'xl',
      sortBy: ({ provider }) => provider?.name ?? '',
      cell: ({ provider }) => (
        <span className="block max-w-20 truncate text-ink-soft 2xl:max-w-36" title={provider?.name}>
          {provider?.name ?? ''}
        </span>
      ),
    },
    {
      id: 'health',
      header: words.columns.health,
      sortBy: ({ endpoint }) => healthOrder.indexOf(endpoint.health),
      cell: ({ endpoint }) => <Health of={endpoint} />,
    },
  ];
}

const traffic: readonly Column<EndpointRow>[] = [
  {
    id: 'requests',
    header: words.columns.requests,
    from: 'md',
    align: 'right',
    sortBy: ({ stats }) => stats?.requests ?? -1,
    cell: ({ stats, endpoint }) => (
      <DayTraffic
        of={stats && { total: stats.requests, hours: stats.series }}
        {...(isUnwell(endpoint.health) && {
          tone: endpoint.health === 'down' ? 'text-bad' : 'text-warn',
        })}
      />
    ),
    total: (rows) => {
      const all = totalOf(rows);
      return all === undefined ? text.states.empty : formatCount(all.requests);
    },
  },
  {
    id: 'ttft',
    header: words.columns.ttft,
    from: 'lg',
    align: 'right',
    sortBy: ({ stats }) => stats?.ttft_ms_p95 ?? -1,
    cell: ({ stats }) => <TtftCell p50={stats?.ttft_ms_p50 ?? null} p95={stats?.ttft_ms_p95 ?? null} />,
  },
  {
    id: 'errors',
    header: words.columns.errors,
    from: 'lg',
    align: 'right',
    sortBy: ({ stats }) => errorShareOf(stats) ?? -1,
    cell: ({ stats }) => <ErrorShare of={stats} />,
    total: (rows) => <ErrorShare of={totalOf(rows)} />,
  },
  ...spendColumns(words.columns),
];

const price: Column<EndpointRow> = {
  id: 'price',
  header: words.columns.price,
  from: 'lg',
  align: 'right',
  sortBy: (row) => row.price?.input_cost_micros_per_1m_tokens ?? -1,
  cell: (row) => <Price row={row} />,
};

const rest: readonly Column<EndpointRow>[] = [
  {
    id: 'limit',
    header: words.columns.limit,
    from: 'xl',
    cell: (row) => <TightestLimit row={row} />,
  },
  {
    id: 'lanes',
    header: words.columns.lanes,
    from: 'md',
    align: 'right',
    sortBy: ({ lanes }) => lanes.length,
    cell: ({ lanes }) => (
      <span title={lanes.map(({ name }) => name).join('\n')}>{formatCount(lanes.length)}</span>
    ),
  },
];

/** Disabled and managed by file are said; enabled is normal. */
function Health({ of }: { readonly of: Endpoint }) {
  return (
    <>
      <HealthCell of={of} />
      {of.enabled && of.managed_by === undefined ? null : (
        <span className="mt-0.5 block">
          <StateBadges enabled={of.enabled} managedBy={of.managed_by} />
        </span>
      )}
    </>
  );
}

/** Undefined while unknown. */
function totalOf(rows: readonly EndpointRow[]): EndpointSums | undefined {
  return sumOfAll(rows.map(({ stats }) => stats));
}

/** As wide as a limit, so that columns stay where they are. */
const NO_LIMIT = 'block min-w-32 text-ink-faint';

/** None is said only where limits were read. */
function TightestLimit({ row: { stats, limits } }: { readonly row: EndpointRow }) {
  const tightest = stats?.tightest_limit ?? null;
  if (tightest !== null) return <LimitBar usage={tightest} />;
  if (stats !== undefined && limits === 'read') return <span className={NO_LIMIT}>{words.noLimit}</span>;
  const why = limits === undefined || limits === 'read' ? undefined : words.limitUnknown[limits];
  return (
    <span className={NO_LIMIT} title={why}>
      {text.states.empty}
    </span>
  );
}

function Price({ row: { endpoint, price } }: { readonly row: EndpointRow }) {
  if (price === undefined) return <SetPriceButton endpointId={endpoint.id} asLink />;
  return (
    <span className="whitespace-nowrap" title={words.priceHint}>
      {formatMoney(price.input_cost_micros_per_1m_tokens)}
      <span className="text-ink-faint">
        {' · '}
        {formatMoney(price.output_cost_micros_per_1m_tokens)}
      </span>
    </span>
  );
}
