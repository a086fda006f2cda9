import type { Showback, ShowbackLine } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import { type ShowbackGroup, type ShowbackSearch, showbackGroups } from '../../address/showback-search.ts';
import { take } from '../../api/client.ts';
import { type ShowbackQuestion, showbackQuery } from '../../api/team-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { formatCount } from '../../format/numbers.ts';
import { SpendPages } from '../../parts/spend-pages.tsx';
import { SpendSum } from '../../parts/spend-sum.tsx';
import { useKeylessName } from '../../session/use-keyless-name.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { useTimeRange } from '../../time-range/use-time-range.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable, nameWidth } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Input } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { saveText } from '../../ui/save-text.ts';
import { Segments } from '../../ui/segments.tsx';
import { Share } from '../../ui/share.tsx';
import { EmptyState, ErrorCard } from '../../ui/states.tsx';

const words = text.showback;

/** Spend over a time range, divided by team, key, member, model or label. */
export function ShowbackPage() {
  const { by = 'team', label = '' }: ShowbackSearch = useSearch({ strict: false });
  const { range } = useTimeRange();
  const question = {
    group_by: by === 'label' ? `label:${label === '' ? words.labelPlaceholder : label}` : by,
    from: range.from,
    to: range.to,
  };
  const showback = useQuery(showbackQuery(useApi(), question));
  return (
    <Page
      title={text.pages.showback}
      description={<SpendPages here="/showback" />}
      actions={<Downloads question={question} />}
    >
      <Grouping by={by} label={label} />
      {showback.error !== null && showback.data === undefined ? (
        <ErrorCard error={showback.error} onRetry={() => void showback.refetch()} />
      ) : showback.data?.lines.length === 0 ? (
        <EmptyState title={words.empty} />
      ) : (
        <Lines by={by} data={showback.data} />
      )}
      <p className="mt-4 text-xs text-ink-faint">{words.notAnInvoice}</p>
    </Page>
  );
}

function Grouping({ by, label }: { readonly by: ShowbackGroup; readonly label: string }) {
  const change = useChangeSearch();
  return (
    <div className="mb-4 flex flex-wrap items-center gap-3">
      <Segments
        label={words.by}
        value={by}
        options={showbackGroups.map((value) => ({ value, label: words.groups[value] }))}
        onChange={(next) => change({ by: next === 'team' ? undefined : next })}
      />
      {by === 'label' ? (
        <Input
          aria-label={words.label}
          className="w-40"
          placeholder={words.labelPlaceholder}
          value={label}
          onChange={(event) => change({ label: event.target.value === '' ? undefined : event.target.value })}
        />
      ) : null}
    </div>
  );
}

function Downloads({ question }: { readonly question: ShowbackQuestion }) {
  const download = useChange({
    run: async (api, format: 'summary' | 'focus') => {
      const params = { query: { ...question, format } };
      const csv = await take(api.GET('/api/relay/stats/showback.csv', { params, parseAs: 'text' }));
      saveText(format === 'focus' ? 'showback-focus.csv' : 'showback.csv', 'text/csv', csv);
    },
    stale: [],
  });
  return (
    <>
      <ErrorNote error={download.error} />
      <Button busy={download.isPending} onClick={() => download.mutate('summary')}>
        <Download aria-hidden className="size-4" />
        {words.csv}
      </Button>
      <Button busy={download.isPending} onClick={() => download.mutate('focus')}>
        <Download aria-hidden className="size-4" />
        {words.focus}
      </Button>
      <TimeRangeMenu />
    </>
  );
}

interface Line extends Omit<ShowbackLine, 'kind'> {
  readonly id: string;
  readonly shown: string;
}

function Lines({ by, data }: { readonly by: ShowbackGroup; readonly data: Showback | undefined }) {
  const keyless = useKeylessName();
  const rows = useMemo(
    () => data?.lines.map((line) => lineOf(line, by === 'key' ? keyless : words.none[by])),
    [data, by, keyless],
  );
  const columns = useMemo(() => columnsOf(by, data?.total), [by, data]);
  return (
    <DataTable
      key={by}
      label={words.table}
      columns={columns}
      rows={rows}
      rowId={({ id }) => id}
      sortedBy={SORTED_BY}
    />
  );
}

const SORTED_BY = { id: 'spend', desc: true } as const;

/** `none` is the name of what is in no group. */
function lineOf({ kind, ...line }: ShowbackLine, none: string): Line {
  const shown = kind === 'none' ? none : kind === 'other' ? words.other : line.label;
  return { ...line, id: `${kind} ${line.key}`, shown };
}

function columnsOf(by: ShowbackGroup, total: Showback['total'] | undefined): readonly Column<Line>[] {
  const totalMicros = total?.cost_micros ?? 0;
  return [
    {
      id: 'group',
      header: words.groups[by],
      sortBy: ({ shown }) => shown,
      width: nameWidth,
      cell: ({ shown }) => <span className="block truncate font-medium">{shown}</span>,
      total: () => words.total,
    },
    count('requests', 'requests', 'sm', total),
    count('input', 'input_tokens', 'md', total),
    count('output', 'output_tokens', 'md', total),
    {
      id: 'spend',
      header: words.columns.spend,
      align: 'right',
      sortBy: ({ cost_micros: micros }) => micros ?? -1,
      cell: (line) => <Spend of={line} />,
      total: () => (total === undefined ? null : <Spend of={total} />),
    },
    {
      id: 'share',
      header: words.columns.share,
      align: 'right',
      from: 'lg',
      width: 'w-56',
      cell: ({ cost_micros: micros }) =>
        totalMicros === 0 || micros === null ? text.states.empty : <Share share={micros / totalMicros} />,
    },
  ];
}

function count(
  id: 'requests' | 'input' | 'output',
  field: 'requests' | 'input_tokens' | 'output_tokens',
  from: 'sm' | 'md',
  total: Showback['total'] | undefined,
): Column<Line> {
  return {
    id,
    header: words.columns[id],
    align: 'right',
    from,
    sortBy: (line) => line[field],
    cell: (line) => formatCount(line[field]),
    total: () => (total === undefined ? null : formatCount(total[field])),
  };
}

function Spend({ of }: { readonly of: Showback['total'] }) {
  return <SpendSum micros={of.cost_micros} usd={of.cost_usd} unpriced={of.unpriced_requests} />;
}
