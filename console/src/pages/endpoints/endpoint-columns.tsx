import {
  formatCount,
  formatDuration,
  formatMoney,
  formatMoneyShort,
  formatShare,
} from '../../format/numbers.ts';
import { DayTraffic, DayValue } from '../../parts/day-figure.tsx';
import { HealthCell, StateBadges } from '../../parts/health-badge.tsx';
import { healthOrder, isUnwell } from '../../parts/health-order.ts';
import { LimitBar } from '../../parts/limit-bar.tsx';
import { text } from '../../text/index.ts';
import { type Column, nameWidth, RowName } from '../../ui/data-table.tsx';
import type { EndpointDay, EndpointRow } from './use-endpoint-rows.ts';

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
    },
    {
      id: 'provider',
      header: words.columns.provider,
      from: 'xl',
      sortBy: ({ provider }) => provider?.name ?? '',
      cell: ({ provider }) => (
        <span className="block max-w-36 truncate text-ink-soft">{provider?.name ?? ''}</span>
      ),
    },
    {
      id: 'health',
      header: words.columns.health,
      sortBy: ({ endpoint }) => healthOrder.indexOf(endpoint.health),
      cell: ({ endpoint }) => <HealthCell of={endpoint} />,
    },
  ];
}

const traffic: readonly Column<EndpointRow>[] = [
  {
    id: 'requests',
    header: words.columns.requests,
    from: 'md',
    align: 'right',
    sortBy: ({ day }) => day.requests?.total ?? -1,
    cell: ({ day, endpoint }) => (
      <DayTraffic
        of={day.requests}
        {...(isUnwell(endpoint.health) && {
          tone: endpoint.health === 'down' ? 'text-bad' : 'text-warn',
        })}
      />
    ),
  },
  {
    id: 'ttft',
    header: words.columns.ttft,
    from: 'xl',
    align: 'right',
    sortBy: ({ day }) => day.ttft?.total ?? -1,
    cell: ({ day }) => <DayValue of={day.ttft} format={formatDuration} />,
  },
  {
    id: 'errors',
    header: words.columns.errors,
    from: 'lg',
    align: 'right',
    sortBy: ({ day }) => errorShareOf(day) ?? -1,
    cell: ({ day }) => <ErrorShare share={errorShareOf(day)} />,
  },
  {
    id: 'spend',
    header: words.columns.spend,
    from: 'lg',
    align: 'right',
    sortBy: (row) => knownSpend(row)?.total ?? -1,
    cell: (row) => <DayValue of={knownSpend(row)} format={formatMoneyShort} />,
  },
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
    cell: ({ tightest }) =>
      tightest === undefined ? (
        <span className="text-ink-faint">{words.noLimit}</span>
      ) : (
        <LimitBar usage={tightest} />
      ),
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
  {
    id: 'state',
    header: words.columns.state,
    from: 'sm',
    sortBy: ({ endpoint }) => Number(endpoint.enabled),
    cell: ({ endpoint }) => <StateBadges enabled={endpoint.enabled} managedBy={endpoint.managed_by} />,
  },
];

/** Without a price, nothing spent is not known to be nothing. */
function knownSpend({ day: { spend }, price: known }: EndpointRow) {
  return known === undefined && spend?.total === 0 ? undefined : spend;
}

function errorShareOf({ requests, errors }: EndpointDay): number | null {
  const all = requests?.total ?? 0;
  return all === 0 || errors === undefined ? null : (errors.total ?? 0) / all;
}

const ERRORS_BAD = 0.02;
const ERRORS_WARN = 0.005;

function ErrorShare({ share }: { readonly share: number | null }) {
  if (share === null) return <span className="text-ink-faint">{text.states.empty}</span>;
  const tone = share > ERRORS_BAD ? 'text-bad' : share > ERRORS_WARN ? 'text-warn' : '';
  return <span className={share === 0 ? 'text-ink-faint' : tone}>{formatShare(share)}</span>;
}

function Price({ row: { price } }: { readonly row: EndpointRow }) {
  if (price === undefined)
    return (
      <span className="whitespace-nowrap text-ink-faint" title={words.unpricedHint}>
        {words.unpriced}
      </span>
    );
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
