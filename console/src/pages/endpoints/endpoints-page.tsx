import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { matches } from '../../format/matches.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { endpointColumns } from './endpoint-columns.tsx';
import { EndpointDialog } from './endpoint-dialog.tsx';
import { EndpointPanel } from './endpoint-panel.tsx';
import { ImportPricesDialog } from './import-prices-dialog.tsx';
import { type EndpointRow, useEndpointRows } from './use-endpoint-rows.ts';

const words = text.endpoints;

export function EndpointsPage() {
  const { can } = useAccess();
  const { query, openId, setQuery, open, close } = useListSearch();
  const [creating, setCreating] = useState(false);
  const [importing, setImporting] = useState(false);
  const { rows: all, endpoints, providers, pricesReadable } = useEndpointRows();
  const columns = useMemo(() => endpointColumns(open, pricesReadable), [open, pricesReadable]);
  const rows = useMemo(() => all?.filter((row) => isMatch(row, query)), [all, query]);
  const opened = all?.find(({ endpoint }) => endpoint.id === openId);
  const noProvider = providers.data?.length === 0;
  return (
    <ListPage
      title={text.pages.endpoints}
      words={words}
      create={
        noProvider ? undefined : (
          <>
            {can('applyPrices') && (all?.length ?? 0) > 0 ? (
              <Button onClick={() => setImporting(true)}>{text.priceImport.open}</Button>
            ) : null}
            {can('createEndpoint') ? (
              <CreateButton label={words.create} onClick={() => setCreating(true)} />
            ) : null}
          </>
        )
      }
      list={endpoints}
      empty={noProvider ? NO_PROVIDER : EMPTY}
      query={query}
      onQuery={setQuery}
      shown={rows?.length}
      below={(rows?.length ?? 0) > 0 ? <p className="mt-3.5 text-xs text-ink-faint">{words.note}</p> : null}
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
          {importing ? <ImportPricesDialog onClose={() => setImporting(false)} /> : null}
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

function isMatch({ endpoint, provider }: EndpointRow, query: string): boolean {
  const { name, slug, upstream_model: model, id } = endpoint;
  return matches(query, name, slug, model, id, provider?.name ?? null);
}

const EMPTY = { title: words.empty };
const NO_PROVIDER = {
  title: words.emptyNoProvider,
  action: (
    <Button asChild look="solid">
      <Link to="/providers">{words.toProviders}</Link>
    </Button>
  ),
};
