import { formatCount, formatMoney } from '../../format/numbers.ts';
import { HealthCell, StateBadges } from '../../parts/health-badge.tsx';
import { healthOrder } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import { type Column, RowName } from '../../ui/data-table.tsx';
import type { EndpointRow } from './use-endpoint-rows.ts';

const words = text.endpoints;

export function endpointColumns(
  open: (id: string) => void,
  pricesReadable: boolean,
): readonly Column<EndpointRow>[] {
  const price: Column<EndpointRow> = {
    id: 'price',
    header: words.columns.price,
    from: 'lg',
    align: 'right',
    sortBy: (row) => row.price?.input_cost_micros_per_1m_tokens ?? -1,
    cell: (row) => <Price row={row} />,
  };
  return [
    {
      id: 'name',
      header: words.columns.name,
      width: 'max-w-0 w-full',
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
      from: 'md',
      sortBy: ({ provider }) => provider?.name ?? '',
      cell: ({ provider }) => (
        <span className="block max-w-44 truncate text-ink-soft">{provider?.name ?? ''}</span>
      ),
    },
    {
      id: 'health',
      header: words.columns.health,
      sortBy: ({ endpoint }) => healthOrder.indexOf(endpoint.health),
      cell: ({ endpoint }) => <HealthCell of={endpoint} />,
    },
    ...(pricesReadable ? [price] : []),
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
}

function Price({ row: { price } }: { readonly row: EndpointRow }) {
  if (price === undefined)
    return (
      <span className="whitespace-nowrap text-ink-faint" title={words.unpricedHint}>
        {words.unpriced}
      </span>
    );
  return (
    <span className="whitespace-nowrap" title={words.per}>
      {formatMoney(price.input_cost_micros_per_1m_tokens)}{' '}
      <span className="text-ink-faint">{words.priceIn}</span>
      {' · '}
      {formatMoney(price.output_cost_micros_per_1m_tokens)}{' '}
      <span className="text-ink-faint">{words.priceOut}</span>
    </span>
  );
}
