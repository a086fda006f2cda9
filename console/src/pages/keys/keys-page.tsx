import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { LinkTabs } from '../../address/link-tabs.tsx';
import type { KeysSearch } from '../../address/list-search.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { membersQuery, orgApiKeysQuery } from '../../api/people-queries.ts';
import { apiKeysQuery, sessionQuery } from '../../api/queries.ts';
import { dayFiguresQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { matches } from '../../format/matches.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Check } from '../../ui/field.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { type KeyDays, keyColumns } from './key-columns.tsx';
import { NewSecretDialog } from './new-secret-dialog.tsx';
import type { NewKey } from './rotate-key.ts';
import { useTightestBudgets } from './use-tightest-budgets.ts';

const words = text.keys;

/** The caller's keys, and for administrators the keys of all members. */
export function KeysPage() {
  const { can } = useAccess();
  const { query, setQuery } = useListSearch();
  const { view }: KeysSearch = useSearch({ strict: false });
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewKey | null>(null);
  const [endedShown, setEndedShown] = useState(false);
  const ofAll = view === 'organization';
  const { keys, columns, owners } = useKeys(ofAll, setCreated);
  const rows = useMemo(
    () =>
      keys.data?.filter(
        ({ name, key_prefix: prefix, status, id, user_uuid: owner }) =>
          (endedShown || status === 'active') && matches(query, name, prefix, id, owners?.get(owner) ?? ''),
      ),
    [keys.data, query, endedShown, owners],
  );
  const hasEnded = keys.data?.some(({ status }) => status !== 'active') === true;
  return (
    <ListPage
      title={text.pages.keys}
      words={words}
      create={
        can('createApiKey') ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : undefined
      }
      tabs={can('listOrgApiKeys') ? <ViewTabs ofAll={ofAll} /> : null}
      list={keys}
      empty={{ title: ofAll ? words.emptyOrganization : words.empty }}
      query={query}
      onQuery={setQuery}
      filters={
        hasEnded ? (
          <Check
            label={words.showRevoked}
            checked={endedShown}
            onChange={(event) => setEndedShown(event.target.checked)}
          />
        ) : null
      }
      shown={rows?.length}
      onClear={() => {
        setQuery('');
        setEndedShown(true);
      }}
      over={
        <>
          {creating ? (
            <CreateKeyDialog
              forMembers={ofAll}
              onClose={() => setCreating(false)}
              onCreated={(next) => {
                setCreating(false);
                setCreated(next);
              }}
            />
          ) : null}
          {created === null ? null : <NewSecretDialog created={created} onClose={() => setCreated(null)} />}
        </>
      }
    >
      <DataTable label={words.table} columns={columns} rows={rows} rowId={({ id }) => id} />
    </ListPage>
  );
}

function useKeys(ofAll: boolean, onCreated: (created: NewKey) => void) {
  const api = useApi();
  const budgets = useTightestBudgets();
  const { data: session } = useQuery(sessionQuery(api));
  const own = useQuery({ ...apiKeysQuery(api), enabled: !ofAll });
  const all = useQuery({ ...orgApiKeysQuery(api), enabled: ofAll });
  const members = useQuery({ ...membersQuery(api), enabled: ofAll });
  const owners = useMemo(
    () => (ofAll ? new Map(members.data?.map(({ id, name }) => [id, name])) : null),
    [ofAll, members.data],
  );
  const days = useKeyDays();
  const selfId = session?.user.id;
  const columns = useMemo(
    () => keyColumns({ budgets, days, selfId, owners, onCreated }),
    [budgets, days, selfId, owners, onCreated],
  );
  return { keys: ofAll ? all : own, columns, owners };
}

function useKeyDays(): KeyDays {
  const api = useApi();
  const enabled = useAccess().can('getTimeseries');
  const { data: requests } = useQuery({ ...dayFiguresQuery(api, 'api_key', 'requests'), enabled });
  const { data: spend } = useQuery({ ...dayFiguresQuery(api, 'api_key', 'cost_micros'), enabled });
  return useMemo(() => ({ requests, spend }), [requests, spend]);
}

function ViewTabs({ ofAll }: { readonly ofAll: boolean }) {
  return (
    <LinkTabs
      label={words.views}
      current={ofAll ? 'organization' : 'own'}
      tabs={[
        { key: 'own', label: words.viewNames.own, search: { view: undefined } },
        { key: 'organization', label: words.viewNames.organization, search: { view: 'organization' } },
      ]}
    />
  );
}
