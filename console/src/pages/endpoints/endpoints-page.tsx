import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import { type EndpointsSearch, type SignalName, signalNames } from '../../address/list-search.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { matches } from '../../format/matches.ts';
import { formatCount } from '../../format/numbers.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { Segments } from '../../ui/segments.tsx';
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
  const { signal }: EndpointsSearch = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const found = useMemo(() => all?.filter((row) => isMatch(row, query)), [all, query]);
  const rows = useMemo(
    () => (signal === undefined ? found : found?.filter((row) => signalOf(row) === signal)),
    [found, signal],
  );
  const onSignal = (next: SignalName | undefined) => changeSearch({ signal: next }, { replace: true });
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
      filters={found === undefined ? null : <SignalFilter rows={found} value={signal} onChange={onSignal} />}
      onClear={() => changeSearch({ q: undefined, signal: undefined }, { replace: true })}
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

/** The signal of an endpoint: nothing is wrong, something is, or it is down. */
function signalOf({ endpoint: { health } }: EndpointRow): SignalName {
  return health === 'down' ? 'down' : isUnwell(health) ? 'attention' : 'healthy';
}

function SignalFilter({ rows, value, onChange }: SignalFilterProps) {
  const count = (name: SignalName) => formatCount(rows.filter((row) => signalOf(row) === name).length);
  return (
    <Segments
      label={words.signals.label}
      value={value ?? ''}
      options={[
        { value: '', label: words.signals.all, count: formatCount(rows.length) },
        ...signalNames.map((name) => ({ value: name, label: words.signals[name], count: count(name) })),
      ]}
      onChange={(next) => onChange(signalNames.find((name) => name === next))}
    />
  );
}

interface SignalFilterProps {
  readonly rows: readonly EndpointRow[];
  readonly value: SignalName | undefined;
  readonly onChange: (value: SignalName | undefined) => void;
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
