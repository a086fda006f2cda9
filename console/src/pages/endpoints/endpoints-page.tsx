import { Link } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { matches } from '../../format/matches.ts';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { HealthBadge, StateBadges } from '../../parts/health-badge.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable, RowName } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { EndpointDialog } from './endpoint-dialog.tsx';
import { EndpointPanel } from './endpoint-panel.tsx';
import { type EndpointRow, useEndpointRows } from './use-endpoint-rows.ts';

const words = text.endpoints;

export function EndpointsPage() {
  const { can } = useAccess();
  const { query, openId, setQuery, open, close } = useListSearch();
  const [creating, setCreating] = useState(false);
  const { rows: all, endpoints, providers, pricesReadable } = useEndpointRows();
  const columns = useMemo(() => columnsOf(open, pricesReadable), [open, pricesReadable]);
  const rows = useMemo(
    () =>
      all?.filter(({ endpoint, provider }) =>
        matches(
          query,
          endpoint.name,
          endpoint.slug,
          endpoint.upstream_model,
          endpoint.id,
          provider?.name ?? null,
        ),
      ),
    [all, query],
  );
  const opened = all?.find(({ endpoint }) => endpoint.id === openId);
  const noProvider = providers.data?.length === 0;
  const toProviders = (
    <Button asChild look="solid">
      <Link to="/providers">{words.toProviders}</Link>
    </Button>
  );
  return (
    <ListPage
      title={text.pages.endpoints}
      words={words}
      create={
        can('createEndpoint') && !noProvider ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : undefined
      }
      list={endpoints}
      empty={
        noProvider
          ? { icon: <Boxes aria-hidden />, title: words.emptyNoProvider, action: toProviders }
          : { icon: <Boxes aria-hidden />, title: words.empty }
      }
      query={query}
      onQuery={setQuery}
      shown={rows?.length}
      over={
        <>
          {creating ? (
            <EndpointDialog
              endpoint={null}
              onClose={() => setCreating(false)}
              onSaved={({ id }) => {
                setCreating(false);
                open(id);
              }}
            />
          ) : null}
          {opened === undefined ? null : (
            <EndpointPanel key={opened.endpoint.id} row={opened} onClose={close} />
          )}
        </>
      }
    >
      <DataTable
        label={words.table}
        columns={columns}
        rows={rows}
        rowId={({ endpoint }) => endpoint.id}
        sortedBy={{ id: 'name', desc: false }}
      />
    </ListPage>
  );
}

function columnsOf(open: (id: string) => void, pricesReadable: boolean): readonly Column<EndpointRow>[] {
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
      sortBy: ({ endpoint }) => endpoint.health,
      cell: ({ endpoint }) => <HealthBadge health={endpoint.health} />,
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
      <span className="text-ink-faint" title={words.unpricedHint}>
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
