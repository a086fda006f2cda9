import type { ApiKey } from '@relay/contract';
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import { type KeysSearch, type KeyUse, keyUses } from '../../address/list-search.ts';
import { useCreating } from '../../address/use-creating.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { matches } from '../../format/matches.ts';
import { formatCount } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Check } from '../../ui/field.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { Segments } from '../../ui/segments.tsx';
import type { NewKey } from './create-key.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyPanel, type OpenedKey } from './key-panel.tsx';
import { isOfUse } from './key-use.ts';
import { NewSecretDialog } from './new-secret-dialog.tsx';
import { useKeys } from './use-keys.ts';

const words = text.keys;

const BUDGET_NOTE = <p className="mt-3.5 text-xs text-ink-faint">{words.budgetNote}</p>;

/** The keys of all members for callers who can list them; otherwise the caller's own. */
export function KeysPage() {
  const { can } = useAccess();
  const { query, openId, setQuery, open, close } = useListSearch();
  const { use }: KeysSearch = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const [creating, setCreating] = useCreating('/keys');
  const [created, setCreated] = useState<NewKey | null>(null);
  const [endedShown, setEndedShown] = useState(false);
  const { keys, columns, owners, openedOf, selfId } = useKeys({ onCreated: setCreated, open });
  const found = useFound(keys.data, owners, query, endedShown);
  const rows = useMemo(
    () => found?.filter((key) => isOfUse({ use, selfId, nowMs: Date.now() }, key)),
    [found, use, selfId],
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
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      filters={
        <>
          {found === undefined ? null : (
            <UseFilter
              keys={found}
              selfId={selfId}
              ofAll={owners !== null}
              value={use}
              onChange={(next) => changeSearch({ use: next }, { replace: true })}
            />
          )}
          {hasEnded ? <EndedCheck shown={endedShown} onChange={setEndedShown} /> : null}
        </>
      }
      shown={rows?.length}
      onClear={() => {
        changeSearch({ q: undefined, use: undefined }, { replace: true });
        setEndedShown(true);
      }}
      below={rows === undefined || rows.length === 0 ? null : BUDGET_NOTE}
      over={
        <KeyDialogs
          creating={creating && can('createApiKey')}
          created={created}
          opened={openedOf(openId)}
          onCreating={setCreating}
          onCreated={setCreated}
          onClose={close}
        />
      }
    >
      <DataTable
        label={words.table}
        columns={columns}
        rows={rows}
        rowId={({ id }) => id}
        sortedBy={{ id: 'spend', desc: true }}
      />
    </ListPage>
  );
}

function EndedCheck({ shown, onChange }: EndedCheckProps) {
  return (
    <Check label={words.showRevoked} checked={shown} onChange={(event) => onChange(event.target.checked)} />
  );
}

interface EndedCheckProps {
  readonly shown: boolean;
  readonly onChange: (shown: boolean) => void;
}

/** The keys that match what is typed; revoked and expired ones only if asked for. */
function useFound(
  keys: readonly ApiKey[] | undefined,
  owners: ReadonlyMap<string, string> | null,
  query: string,
  endedShown: boolean,
) {
  return useMemo(
    () =>
      keys?.filter(
        ({ name, key_prefix: prefix, status, id, user_uuid: owner }) =>
          (endedShown || status === 'active') && matches(query, name, prefix, id, owners?.get(owner) ?? ''),
      ),
    [keys, query, endedShown, owners],
  );
}

/** The panel of the open key, the dialog for a new one, and the one that shows a secret. Only one is open. */
function KeyDialogs(props: KeyDialogsProps) {
  const { creating, created, opened, onCreating, onCreated, onClose } = props;
  const showSecret = (next: NewKey) => {
    if (opened !== null) onClose();
    onCreating(false);
    onCreated(next);
  };
  if (created !== null) return <NewSecretDialog created={created} onClose={() => onCreated(null)} />;
  if (creating) return <CreateKeyDialog onClose={() => onCreating(false)} onCreated={showSecret} />;
  if (opened === null) return null;
  return (
    <KeyPanel
      key={opened.apiKey.id}
      {...opened}
      onClose={onClose}
      onCreate={() => onCreating(true)}
      onCreated={showSecret}
    />
  );
}

interface KeyDialogsProps {
  readonly creating: boolean;
  readonly created: NewKey | null;
  readonly opened: OpenedKey | null;
  readonly onCreating: (creating: boolean) => void;
  readonly onCreated: (created: NewKey | null) => void;
  readonly onClose: () => void;
}

function UseFilter({ keys, selfId, ofAll, value, onChange }: UseFilterProps) {
  const nowMs = Date.now();
  const count = (use: KeyUse | undefined) =>
    formatCount(keys.filter((key) => isOfUse({ use, selfId, nowMs }, key)).length);
  const uses = keyUses.filter((use) => ofAll || use !== 'mine');
  return (
    <Segments
      label={words.uses.label}
      value={value ?? ''}
      options={[
        { value: '', label: words.uses.all, count: count(undefined) },
        ...uses.map((use) => ({ value: use, label: words.uses[use], count: count(use) })),
      ]}
      onChange={(next) => onChange(keyUses.find((use) => use === next))}
    />
  );
}

interface UseFilterProps {
  readonly keys: readonly ApiKey[];
  readonly selfId: string | undefined;
  /** Whether the keys of other members are among them. */
  readonly ofAll: boolean;
  readonly value: KeyUse | undefined;
  readonly onChange: (use: KeyUse | undefined) => void;
}
