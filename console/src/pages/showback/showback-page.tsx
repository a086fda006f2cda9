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
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { useTimeRange } from '../../time-range/use-time-range.ts';
import { Button } from '../../ui/button.tsx';
import { Choice } from '../../ui/choice.tsx';
import { type Column, DataTable, nameWidth } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Input } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { saveText } from '../../ui/save-text.ts';
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
      description={words.description}
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
      <Choice
        aria-label={words.by}
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
  const rows = useMemo(() => data?.lines.map((line) => lineOf(line, by)), [data, by]);
  const columns = useMemo(() => columnsOf(by, data?.total.cost_micros ?? 0), [by, data]);
  return (
    <div className="space-y-3">
      <DataTable label={words.table} columns={columns} rows={rows} rowId={({ id }) => id} />
      {data === undefined ? null : (
        <dl className="flex gap-2 text-[13px]">
          <dt className="text-ink-faint">{words.total}</dt>
          <dd className="font-medium tabular-nums" title={`$${data.total.cost_usd}`}>
            {formatMoney(data.total.cost_micros)}
          </dd>
        </dl>
      )}
    </div>
  );
}

function lineOf({ kind, ...line }: ShowbackLine, by: ShowbackGroup): Line {
  const shown = kind === 'none' ? words.none[by] : kind === 'other' ? words.other : line.label;
  return { ...line, id: `${kind} ${line.key}`, shown };
}

function columnsOf(by: ShowbackGroup, totalMicros: number): readonly Column<Line>[] {
  return [
    {
      id: 'group',
      header: words.groups[by],
      sortBy: ({ shown }) => shown,
      width: nameWidth,
      cell: ({ shown }) => <span className="block truncate font-medium">{shown}</span>,
    },
    {
      id: 'requests',
      header: words.columns.requests,
      align: 'right',
      from: 'sm',
      sortBy: ({ requests }) => requests,
      cell: ({ requests }) => formatCount(requests),
    },
    {
      id: 'input',
      header: words.columns.input,
      align: 'right',
      from: 'md',
      sortBy: ({ input_tokens: tokens }) => tokens,
      cell: ({ input_tokens: tokens }) => formatCount(tokens),
    },
    {
      id: 'output',
      header: words.columns.output,
      align: 'right',
      from: 'md',
      sortBy: ({ output_tokens: tokens }) => tokens,
      cell: ({ output_tokens: tokens }) => formatCount(tokens),
    },
    {
      id: 'spend',
      header: words.columns.spend,
      align: 'right',
      sortBy: ({ cost_micros: micros }) => micros,
      cell: ({ cost_micros: micros, cost_usd: usd }) => <span title={`$${usd}`}>{formatMoney(micros)}</span>,
    },
    {
      id: 'share',
      header: words.columns.share,
      align: 'right',
      from: 'lg',
      cell: ({ cost_micros: micros }) =>
        totalMicros === 0 ? '—' : `${((100 * micros) / totalMicros).toFixed(1)}%`,
    },
  ];
}
