import { formatCount } from '../../format/numbers.ts';
import { DayTraffic } from '../../parts/day-figure.tsx';
import { type EndpointSums, sumOfAll } from '../../parts/endpoint-sums.ts';
import { ErrorShare, errorShareOf } from '../../parts/error-share.tsx';
import { HealthCell, StateBadges } from '../../parts/health-badge.tsx';
import { healthOrder, isUnwell } from '../../parts/health-order.ts';
import { spendColumns } from '../../parts/spend-columns.tsx';
import { text } from '../../text/index.ts';
import { type Column, nameWidth, RowName } from '../../ui/data-table.tsx';
import { CredentialCell, credentialOrder } from './credential-cell.tsx';
import { type ProviderSignal, signalOf } from './provider-signal.ts';
import type { ProviderRow } from './use-provider-rows.ts';

const words = text.providers;

export function providerColumns(open: (id: string) => void): readonly Column<ProviderRow>[] {
  return [nameColumn(open), healthColumn, endpointsColumn, ...traffic, ...rest];
}

function nameColumn(open: (id: string) => void): Column<ProviderRow> {
  return {
    id: 'name',
    header: words.columns.name,
    width: nameWidth,
    sortBy: ({ provider }) => provider.name,
    cell: ({ provider: { id, name, base_url: url } }) => (
      <RowName note={url} onOpen={() => open(id)}>
        {name}
      </RowName>
    ),
    total: (rows) => words.total(rows.length),
  };
}

const healthColumn: Column<ProviderRow> = {
  id: 'health',
  header: words.columns.health,
  sortBy: (row) => healthOrder.indexOf(shownSignal(row).of.health),
  cell: (row) => <Health row={row} />,
};

const endpointsColumn: Column<ProviderRow> = {
  id: 'endpoints',
  header: words.columns.endpoints,
  from: 'md',
  align: 'right',
  sortBy: ({ endpoints }) => endpoints.length,
  cell: ({ endpoints }) => formatCount(endpoints.length),
  total: (rows) => formatCount(rows.reduce((sum, { endpoints }) => sum + endpoints.length, 0)),
};

const traffic: readonly Column<ProviderRow>[] = [
  {
    id: 'requests',
    header: words.columns.requests,
    from: 'md',
    align: 'right',
    sortBy: ({ stats }) => stats?.requests ?? -1,
    cell: (row) => {
      const { stats } = row;
      const { health } = shownSignal(row).of;
      return (
        <DayTraffic
          of={stats && { total: stats.requests, hours: stats.series }}
          {...(isUnwell(health) && { tone: health === 'down' ? 'text-bad' : 'text-warn' })}
        />
      );
    },
    total: (rows) => {
      const all = totalOf(rows);
      return all === undefined ? text.states.empty : formatCount(all.requests);
    },
  },
  {
    id: 'errors',
    header: words.columns.errors,
    from: 'sm',
    align: 'right',
    sortBy: ({ stats }) => errorShareOf(stats) ?? -1,
    cell: ({ stats }) => <ErrorShare of={stats} />,
    total: (rows) => <ErrorShare of={totalOf(rows)} />,
  },
  ...spendColumns(words.columns),
];

const rest: readonly Column<ProviderRow>[] = [
  {
    id: 'credential',
    header: words.columns.credential,
    from: 'sm',
    sortBy: credentialOrder,
    cell: (row) => <CredentialCell row={row} />,
  },
  {
    id: 'state',
    header: words.columns.state,
    from: 'xl',
    sortBy: ({ provider }) => Number(provider.enabled),
    cell: ({ provider: { enabled, managed_by: managedBy } }) => (
      <StateBadges enabled={enabled} managedBy={managedBy} />
    ),
  },
];

function shownSignal({ provider, endpoints }: ProviderRow): ProviderSignal {
  return signalOf(provider, endpoints);
}

/** One statement: the provider's state, or how many of its endpoints have the worst one. */
function Health({ row }: { readonly row: ProviderRow }) {
  const { of, endpoint, unwell } = shownSignal(row);
  if (endpoint === null) return <HealthCell of={of} />;
  return (
    <>
      <HealthCell of={of} />
      <span className="block text-xs whitespace-nowrap text-ink-faint">
        {words.unwell(unwell, row.endpoints.length)}
      </span>
    </>
  );
}

/** Undefined while unknown. */
function totalOf(rows: readonly ProviderRow[]): EndpointSums | undefined {
  return sumOfAll(rows.map(({ stats }) => stats));
}
