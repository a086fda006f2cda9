import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { guardrailsQuery, guardrailTotalsQuery } from '../../api/guardrail-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { timeRangeSearch } from '../../app/time-range.ts';
import { useAccess } from '../../app/use-access.ts';
import { matches } from '../../format/matches.ts';
import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../shared/list-page.tsx';
import { TimeRangeMenu } from '../shared/time-range-menu.tsx';
import { useListSearch } from '../shared/use-list-search.ts';
import { useTimeRange } from '../shared/use-time-range.ts';
import { CreateGuardrailDialog } from './create-guardrail-dialog.tsx';
import { columnsOf } from './guardrail-columns.tsx';

const words = text.guardrails;

export function GuardrailsPage() {
  const api = useApi();
  const { can } = useAccess();
  const navigate = useNavigate();
  const { query, setQuery } = useListSearch();
  const { range } = useTimeRange();
  const [creating, setCreating] = useState(false);
  const guardrails = useQuery(guardrailsQuery(api));
  const totals = useQuery(guardrailTotalsQuery(api, range));
  const open = useCallback(
    (guardrailId: string) =>
      void navigate({
        to: '/guardrails/$guardrailId',
        params: { guardrailId },
        search: (before: Record<string, unknown>) => timeRangeSearch(before),
      }),
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
      empty={{ icon: <ShieldCheck aria-hidden />, title: words.empty }}
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
