import type { Provider } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { endpointsQuery, HEALTH_REFRESH, providersQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { matches } from '../../format/matches.ts';
import { formatCount } from '../../format/numbers.ts';
import { HealthCell, StateBadges } from '../../parts/health-badge.tsx';
import { healthOrder } from '../../parts/health-order.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { type Column, DataTable, nameWidth, RowName } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { CreateProviderDialog } from './create-provider-dialog.tsx';
import { ProviderPanel } from './provider-panel.tsx';

const words = text.providers;

export function ProvidersPage() {
  const api = useApi();
  const { can } = useAccess();
  const { query, openId, setQuery, open, close } = useListSearch();
  const [creating, setCreating] = useState(false);
  const providers = useQuery({ ...providersQuery(api), ...HEALTH_REFRESH });
  const endpoints = useQuery({ ...endpointsQuery(api), enabled: can('listEndpoints') });
  const endpointCounts = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { provider_id: id } of endpoints.data ?? []) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }, [endpoints.data]);
  const columns = useMemo(() => columnsOf(endpointCounts, open), [endpointCounts, open]);
  const rows = useMemo(
    () => providers.data?.filter(({ name, slug, base_url: url, id }) => matches(query, name, slug, url, id)),
    [providers.data, query],
  );
  const opened = providers.data?.find(({ id }) => id === openId);
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
          {opened === undefined ? null : <ProviderPanel key={opened.id} provider={opened} onClose={close} />}
        </>
      }
    >
      <DataTable
        label={words.table}
        columns={columns}
        rows={rows}
        rowId={({ id }) => id}
        sortedBy={{ id: 'name', desc: false }}
      />
    </ListPage>
  );
}

function columnsOf(
  endpointCounts: ReadonlyMap<string, number>,
  open: (id: string) => void,
): readonly Column<Provider>[] {
  return [
    {
      id: 'name',
      header: words.columns.name,
      sortBy: ({ name }) => name,
      cell: ({ id, name, base_url: url }) => (
        <RowName note={url} onOpen={() => open(id)}>
          {name}
        </RowName>
      ),
      width: nameWidth,
    },
    {
      id: 'health',
      header: words.columns.health,
      sortBy: ({ health }) => healthOrder.indexOf(health),
      cell: (provider) => <HealthCell of={provider} />,
    },
    {
      id: 'credential',
      header: words.columns.credential,
      from: 'sm',
      sortBy: (provider) => Number(provider.has_credential),
      cell: (provider) => <CredentialBadge provider={provider} />,
    },
    {
      id: 'endpoints',
      header: words.columns.endpoints,
      from: 'md',
      align: 'right',
      sortBy: ({ id }) => endpointCounts.get(id) ?? 0,
      cell: ({ id }) => formatCount(endpointCounts.get(id) ?? 0),
    },
    {
      id: 'state',
      header: words.columns.state,
      from: 'md',
      sortBy: ({ enabled }) => Number(enabled),
      cell: ({ enabled, managed_by: managedBy }) => <StateBadges enabled={enabled} managedBy={managedBy} />,
    },
  ];
}

function CredentialBadge({ provider }: { readonly provider: Provider }) {
  if (provider.has_credential) return <Badge>{words.credentialStored}</Badge>;
  if (provider.auth_mode === 'none')
    return <span className="text-ink-faint">{words.credentialNotNeeded}</span>;
  return <Badge tone="bad">{words.credentialMissing}</Badge>;
}
