import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useCreating } from '../../address/use-creating.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { guardrailsQuery, guardrailTotalsQuery } from '../../api/guardrail-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { matches } from '../../format/matches.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { useTimeRange } from '../../time-range/use-time-range.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { CreateGuardrailDialog } from './create-guardrail-dialog.tsx';
import { columnsOf } from './guardrail-columns.tsx';

const words = text.guardrails;

export function GuardrailsPage() {
  const api = useApi();
  const { can } = useAccess();
  const navigate = useNavigate();
  const { query, setQuery } = useListSearch();
  const { range } = useTimeRange();
  const [creating, setCreating] = useCreating('/guardrails');
  const guardrails = useQuery(guardrailsQuery(api));
  const totals = useQuery(guardrailTotalsQuery(api, range));
  const open = useCallback(
    (guardrailId: string) => void navigate({ to: '/guardrails/$guardrailId', params: { guardrailId } }),
    [navigate],
  );
  const columns = useMemo(() => columnsOf(totals.data, open), [totals.data, open]);
  const rows = useMemo(
    () => guardrails.data?.filter(({ name, slug, base_url: url, id }) => matches(query, name, slug, url, id)),
    [guardrails.data, query],
  );
  return (
    <ListPage
      title={text.pages.guardrails}
      words={words}
      create={
        can('createGuardrail') ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : undefined
      }
      list={guardrails}
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      filters={
        <div className="sm:ml-auto">
          <TimeRangeMenu />
        </div>
      }
      shown={rows?.length}
      over={
        creating ? (
          <CreateGuardrailDialog onClose={() => setCreating(false)} onCreated={({ id }) => open(id)} />
        ) : null
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
