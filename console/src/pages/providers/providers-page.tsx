import { useMemo } from 'react';
import { useCreating } from '../../address/use-creating.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { matches } from '../../format/matches.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { CreateProviderDialog } from './create-provider-dialog.tsx';
import { providerColumns } from './provider-columns.tsx';
import { ProviderPanel } from './provider-panel.tsx';
import { useProviderRows } from './use-provider-rows.ts';

const words = text.providers;

export function ProvidersPage() {
  const { can } = useAccess();
  const { query, openId, setQuery, open, close } = useListSearch();
  const [creating, setCreating] = useCreating('/providers');
  const { rows: all, providers } = useProviderRows();
  const columns = useMemo(() => providerColumns(open), [open]);
  const rows = useMemo(
    () =>
      all?.filter(({ provider: { name, slug, base_url: url, id } }) => matches(query, name, slug, url, id)),
    [all, query],
  );
  const opened = all?.find(({ provider: { id } }) => id === openId);
  return (
    <ListPage
      title={text.pages.providers}
      words={words}
      create={
        can('createProvider') ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : undefined
      }
      list={providers}
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      shown={rows?.length}
      over={
        <>
          {creating ? (
            <CreateProviderDialog
              onClose={() => setCreating(false)}
              onCreated={(provider) => {
                setCreating(false);
                open(provider.id);
              }}
            />
          ) : null}
          {opened === undefined ? null : (
            <ProviderPanel key={opened.provider.id} row={opened} onClose={close} />
          )}
        </>
      }
    >
      <DataTable
        label={words.table}
        columns={columns}
        rows={rows}
        rowId={({ provider }) => provider.id}
        sortedBy={{ id: 'health', desc: false }}
      />
    </ListPage>
  );
}
