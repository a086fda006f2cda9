import type { Lane } from '@relay/contract';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useCreating } from '../../address/use-creating.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { matches } from '../../format/matches.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { CreateLaneDialog } from './create-lane-dialog.tsx';
import { laneColumns } from './lane-columns.tsx';
import { useLaneRows } from './use-lane-rows.ts';

const words = text.lanes;

export function LanesPage() {
  const { can } = useAccess();
  const navigate = useNavigate();
  const { query, setQuery } = useListSearch();
  const [creating, setCreating] = useCreating('/lanes');
  const { lanes, rows } = useLaneRows();
  const shown = useMemo(
    () =>
      rows?.filter(({ lane: { name, slug, description, id } }) =>
        matches(query, name, slug, description, id),
      ),
    [rows, query],
  );
  const toLane = (lane: Lane) => void navigate({ to: '/lanes/$laneId', params: { laneId: lane.id } });
  return (
    <ListPage
      title={text.pages.lanes}
      words={words}
      create={
        can('createLane') ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : undefined
      }
      list={lanes}
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      shown={shown?.length}
      below={(shown?.length ?? 0) > 0 ? <p className="mt-3.5 text-xs text-ink-faint">{words.note}</p> : null}
      over={creating ? <CreateLaneDialog onClose={() => setCreating(false)} onCreated={toLane} /> : null}
    >
      <DataTable
        label={words.table}
        columns={laneColumns}
        rows={shown}
        rowId={({ lane }) => lane.id}
        sortedBy={{ id: 'name', desc: false }}
      />
    </ListPage>
  );
}
