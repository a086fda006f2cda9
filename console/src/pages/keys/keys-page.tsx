import type { ApiKey, LimitUsage } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useMemo, useState } from 'react';
import { apiKeyBudgetsQuery, apiKeysQuery, limitUsageQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../app/use-access.ts';
import { matches } from '../../format/matches.ts';
import { formatDay } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Check } from '../../ui/field.tsx';
import { Ago } from '../../ui/time.tsx';
import { LimitBar } from '../shared/limit-bar.tsx';
import { CreateButton, ListPage } from '../shared/list-page.tsx';
import { useListSearch } from '../shared/use-list-search.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyMenu } from './key-menu.tsx';
import { NewSecretDialog } from './new-secret-dialog.tsx';

const words = text.keys;
const TONES: Record<ApiKey['status'], Tone> = { active: 'good', revoked: 'bad', expired: 'warn' };

export function KeysPage() {
  const api = useApi();
  const { can } = useAccess();
  const { query, setQuery } = useListSearch();
  const [creating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [endedShown, setEndedShown] = useState(false);
  const keys = useQuery(apiKeysQuery(api));
  const budgets = useTightestBudgets();
  const columns = useMemo(() => columnsOf(budgets, setSecret), [budgets]);
  const rows = useMemo(
    () =>
      keys.data?.filter(
        ({ name, key_prefix: prefix, status, id }) =>
          (endedShown || status === 'active') && matches(query, name, prefix, id),
      ),
    [keys.data, query, endedShown],
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
      list={keys}
      empty={{ icon: <KeyRound aria-hidden />, title: words.empty }}
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
              onClose={() => setCreating(false)}
              onCreated={(created) => {
                setCreating(false);
                setSecret(created);
              }}
            />
          ) : null}
          {secret === null ? null : <NewSecretDialog secret={secret} onClose={() => setSecret(null)} />}
        </>
      }
    >
      <DataTable label={words.table} columns={columns} rows={rows} rowId={({ id }) => id} />
    </ListPage>
  );
}

/** Of the budgets of each key, the one that will be used up first. */
function useTightestBudgets(): ReadonlyMap<string, LimitUsage> {
  const api = useApi();
  const { can } = useAccess();
  const policies = useQuery(apiKeyBudgetsQuery(api));
  const usage = useQuery({ ...limitUsageQuery(api), enabled: can('listLimitUsage') });
  return useMemo(() => {
    const keyOf = new Map(policies.data?.map((policy) => [policy.limit_uuid, policy.api_key_uuid]));
    const tightest = new Map<string, LimitUsage>();
    for (const each of usage.data ?? []) {
      const key = keyOf.get(each.policy_id);
      if (key === undefined) continue;
      const before = tightest.get(key);
      if (before === undefined || fullness(each) > fullness(before)) tightest.set(key, each);
    }
    return tightest;
  }, [policies.data, usage.data]);
}

function fullness({ used, reserved, limit }: LimitUsage): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : (used + reserved) / limit;
}

function columnsOf(
  budgets: ReadonlyMap<string, LimitUsage>,
  onSecret: (secret: string) => void,
): readonly Column<ApiKey>[] {
  return [
    {
      id: 'name',
      header: words.columns.name,
      sortBy: ({ name }) => name,
      width: 'max-w-0 w-full',
      cell: ({ name, key_prefix: prefix }) => (
        <div className="min-w-0">
          <p className="truncate font-medium">{name}</p>
          <p className="truncate font-mono text-xs text-ink-faint">{prefix}…</p>
        </div>
      ),
    },
    {
      id: 'state',
      header: words.columns.state,
      sortBy: ({ status }) => status,
      cell: ({ status }) => (
        <Badge tone={TONES[status]} dot>
          {words.statuses[status]}
        </Badge>
      ),
    },
    {
      id: 'scopes',
      header: words.columns.scopes,
      from: 'md',
      sortBy: ({ scopes }) => scopes.length,
      cell: ({ scopes }) => (
        <span title={scopes.join('\n')} className="whitespace-nowrap">
          {words.scopeCount(scopes.length)}
        </span>
      ),
    },
    {
      id: 'budget',
      header: words.columns.budget,
      from: 'lg',
      cell: ({ id }) => {
        const usage = budgets.get(id);
        return usage === undefined ? (
          <span className="text-ink-faint">{words.noBudget}</span>
        ) : (
          <LimitBar usage={usage} />
        );
      },
    },
    {
      id: 'last-used',
      header: words.columns.lastUsed,
      from: 'sm',
      sortBy: ({ last_used_at: at }) => at ?? '',
      cell: ({ last_used_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">
          {at === null ? text.states.never : <Ago at={at} />}
        </span>
      ),
    },
    {
      id: 'expires',
      header: words.columns.expires,
      from: 'lg',
      sortBy: ({ expires_at: at }) => at ?? '9999',
      cell: ({ expires_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">
          {at === null ? text.states.never : formatDay(at)}
        </span>
      ),
    },
    {
      id: 'actions',
      header: words.columns.actions,
      quietHeader: true,
      align: 'right',
      cell: (key) => (key.status === 'active' ? <KeyMenu apiKey={key} onSecret={onSecret} /> : null),
    },
  ];
}
