import type { AlertDestination } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { alertDestinationsQuery } from '../../api/alert-queries.ts';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { Explained } from '../../errors/api-error.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type Column, DataTable, nameWidth } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CreateButton } from '../../ui/list-page.tsx';
import { ResourceMenu } from '../../ui/resource-menu.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';
import { DestinationDialog } from './destination-dialog.tsx';

const words = text.alerts;
const STALE = [cacheKeys.alertDestinations, cacheKeys.alerts] as const;

/** Where alerts are sent. */
export function AlertDestinations() {
  const { can } = useAccess();
  const { data, error } = useQuery(alertDestinationsQuery(useApi()));
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const mayChange = can('updateAlertDestination');
  const columns = useMemo(() => destinationColumns(mayChange), [mayChange]);
  return (
    <section aria-label={words.destinations} className="space-y-3">
      <header className="flex items-center justify-between gap-3">
        <h2 className="text-[15px] font-semibold">{words.destinations}</h2>
        {can('createAlertDestination') ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : null}
      </header>
      <ErrorNote error={data === undefined ? error : null} />
      {data?.length === 0 ? (
        <p className="text-[13px] text-ink-soft">
          {words.noDestinations} {can('createAlertDestination') ? words.addDestinations : null}
        </p>
      ) : (
        <DataTable label={words.destinationTable} columns={columns} rows={data} rowId={({ id }) => id} />
      )}
      {isCreating ? (
        <DestinationDialog
          destination={null}
          onClose={() => setCreating(false)}
          onSecret={(made) => setSecret(made)}
        />
      ) : null}
      {secret === null ? null : <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </section>
  );
}

function destinationColumns(mayChange: boolean): readonly Column<AlertDestination>[] {
  return [
    {
      id: 'name',
      header: words.destinationColumns.name,
      sortBy: ({ name }) => name,
      cell: ({ name }) => <span className="font-medium">{name}</span>,
    },
    {
      id: 'to',
      header: words.destinationColumns.to,
      width: nameWidth,
      cell: ({ kind, url, address }) => (
        <p className="truncate">
          <span className="mr-2 text-ink-faint">{words.kinds[kind]}</span>
          {url ?? address}
        </p>
      ),
    },
    {
      id: 'state',
      header: words.destinationColumns.state,
      from: 'sm',
      cell: ({ enabled }) => (
        <Badge tone={enabled ? 'good' : 'neutral'}>{enabled ? words.on : words.off}</Badge>
      ),
    },
    {
      id: 'actions',
      header: words.destinationColumns.actions,
      quietHeader: true,
      align: 'right',
      cell: (destination) => (mayChange ? <DestinationMenu destination={destination} /> : null),
    },
  ];
}

function DestinationMenu({ destination }: { readonly destination: AlertDestination }) {
  const { id, name, enabled } = destination;
  const params = { path: { destination_id: id } };
  const toggle = useChange({
    run: (api) =>
      take(
        api.PUT('/api/relay/alert-destinations/{destination_id}', { params, body: { enabled: !enabled } }),
      ),
    stale: STALE,
    said: () => words.toggled(name, !enabled),
  });
  const remove = useChange({
    run: (api) => api.DELETE('/api/relay/alert-destinations/{destination_id}', { params }),
    stale: STALE,
    said: () => words.deleted(name),
  });
  const test = useChange({
    run: async (api) => {
      const answer = await take(api.POST('/api/relay/alert-destinations/{destination_id}/test', { params }));
      if (!answer.ok) throw new Explained(answer.message);
      return answer;
    },
    stale: [],
    said: () => words.tested,
  });
  return (
    <div className="flex items-center justify-end gap-2">
      <ErrorNote error={test.error} />
      <Button size="small" busy={test.isPending} onClick={() => test.mutate(undefined)}>
        {words.test}
      </Button>
      <ResourceMenu
        enabled={enabled}
        toggle={toggle}
        remove={remove}
        deleteTitle={words.deleteTitle(name)}
        deleteAction={words.deleteAction}
        deleteBody={words.deleteBody}
        editDialog={(close) => <DestinationDialog destination={destination} onClose={close} />}
      />
    </div>
  );
}

function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <ShownOnceDialog
      title={words.secretTitle}
      warning={words.secretWarning}
      savedLabel={words.savedIt}
      onClose={onClose}
    >
      <div className="flex flex-wrap gap-2">
        <code className="min-w-0 flex-1 rounded-lg border bg-sunken px-3 py-2 font-mono text-[13px] break-all select-all">
          {secret}
        </code>
        <CopyButton worded value={secret} label={words.copySecret} />
      </div>
    </ShownOnceDialog>
  );
}
