import type { UsageTotals } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Download } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import { type BillingSearch, statementGroups } from '../../address/control-search.ts';
import { usageStatementQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { formatMonth } from '../../format/times.ts';
import { useKeylessName } from '../../session/use-keyless-name.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Select } from '../../ui/field.tsx';
import { saveText } from '../../ui/save-text.ts';
import { Segments } from '../../ui/segments.tsx';
import { EmptyState, ErrorCard, Skeleton } from '../../ui/states.tsx';
import { statementColumns } from './statement-columns.tsx';
import { monthsUpTo, statementCsv, statementRows } from './statement-rows.ts';

const words = text.billing.statement;

/** A month's spend at configured prices, by organization, user or key. */
export function StatementView() {
  const { month: asked, by = 'user' }: BillingSearch = useSearch({ strict: false });
  const [months] = useState(() => monthsUpTo(Date.now()));
  const month = asked ?? months[0] ?? '';
  const api = useApi();
  const statement = useQuery(usageStatementQuery(api, month, by === 'user' ? 'user' : 'key'));
  const { data } = statement;
  const keyless = useKeylessName();
  const rows = useMemo(
    () => (data === undefined ? undefined : statementRows(data, by, keyless)),
    [data, by, keyless],
  );
  const columns = useMemo(() => statementColumns(by, data?.totals), [by, data]);
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <MonthPicker month={month} months={months} />
        {data === undefined ? null : (
          <Badge tone={data.complete ? 'neutral' : 'note'}>
            {data.complete ? words.complete : words.running}
          </Badge>
        )}
        <GroupPicker by={by} />
        <Button
          className="sm:ml-auto"
          disabled={rows === undefined || rows.length === 0}
          onClick={() => {
            if (data !== undefined)
              saveText(words.fileName(month, by), 'text/csv;charset=utf-8', statementCsv(data, by, keyless));
          }}
        >
          <Download aria-hidden className="size-4" />
          {words.csv}
        </Button>
      </div>
      {statement.error !== null && data === undefined ? (
        <ErrorCard error={statement.error} onRetry={() => void statement.refetch()} />
      ) : rows?.length === 0 && data?.totals.requests === 0 ? (
        <EmptyState title={words.empty(formatMonth(month))} />
      ) : (
        <>
          <Totals totals={data?.totals} />
          <DataTable
            key={by}
            label={words.table(formatMonth(month))}
            columns={columns}
            rows={rows}
            rowId={({ id }) => id}
            {...(by === 'organization' ? {} : { sortedBy: { id: 'spend', desc: true } })}
          />
        </>
      )}
      <p className="text-xs text-ink-faint">
        <strong className="font-medium text-ink-soft">{words.notInvoice}.</strong> {words.notInvoiceHint}
      </p>
    </div>
  );
}

function MonthPicker({ month, months }: { readonly month: string; readonly months: readonly string[] }) {
  const go = useChangeSearch();
  const at = months.indexOf(month);
  const step = (to: string | undefined) => (to === undefined ? undefined : () => go({ month: to }));
  const [earlier, later] = [step(months[at + 1]), step(at > 0 ? months[at - 1] : undefined)];
  return (
    <div className="flex items-center gap-1">
      <IconButton label={words.earlier} disabled={earlier === undefined} onClick={earlier}>
        <ChevronLeft aria-hidden className="size-4" />
      </IconButton>
      <Select
        aria-label={words.month}
        value={month}
        className="w-44"
        onChange={(event) => go({ month: event.target.value })}
      >
        {at === -1 ? <option value={month}>{formatMonth(month)}</option> : null}
        {months.map((each) => (
          <option key={each} value={each}>
            {formatMonth(each)}
          </option>
        ))}
      </Select>
      <IconButton label={words.later} disabled={later === undefined} onClick={later}>
        <ChevronRight aria-hidden className="size-4" />
      </IconButton>
    </div>
  );
}

function GroupPicker({ by }: { readonly by: string }) {
  const go = useChangeSearch();
  return (
    <Segments
      label={words.by}
      value={by}
      options={statementGroups.map((value) => ({ value, label: words.groups[value] }))}
      onChange={(group) => go({ by: group })}
    />
  );
}

/** The totals of the organization for every grouping. */
function Totals({ totals }: { readonly totals: UsageTotals | undefined }) {
  const tiles: readonly (readonly [string, ReactNode, string])[] =
    totals === undefined
      ? [words.spend, words.requests, words.tokensIn, words.tokensOut].map((name) => [name, undefined, ''])
      : [
          [words.spend, spendOf(totals), spendNote(totals)],
          [
            words.requests,
            formatCount(totals.requests),
            words.meteredOf(formatCount(totals.metered_requests)),
          ],
          [
            words.tokensIn,
            formatCount(totals.input_tokens),
            words.cached(formatCount(totals.cached_input_tokens)),
          ],
          [words.tokensOut, formatCount(totals.output_tokens), estimateNote(totals)],
        ];
  return (
    <dl className="grid grid-cols-2 border-y lg:grid-cols-4">
      {tiles.map(([name, value, note]) => (
        <div key={name} className="py-2 pr-3 lg:border-l lg:pl-3 lg:first:border-l-0 lg:first:pl-0">
          <dt className="text-xs text-ink-faint">{name}</dt>
          <dd className="mt-1 text-lg leading-7 font-semibold tabular-nums">
            {value ?? <Skeleton className="my-1.5 w-24" />}
          </dd>
          <dd className="min-h-[18px] text-xs text-ink-faint">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function spendOf({ metered_spend_micros: micros }: UsageTotals): string {
  return micros === null ? text.unpriced.noPrice : formatMoney(micros);
}

function spendNote(totals: UsageTotals): string {
  const {
    metered_spend_micros: micros,
    unpriced_requests: unpriced,
    fallback_cost_micros: fallbacks,
  } = totals;
  if (micros === null) return text.unpriced.noPriceHint;
  return [
    ...(fallbacks === null || fallbacks === 0 ? [] : [words.fallbacks(formatMoney(fallbacks))]),
    ...(unpriced === 0 ? [] : [text.unpriced.excludes(unpriced)]),
  ].join(' · ');
}

function estimateNote({ estimated_requests: estimated }: UsageTotals): string {
  return estimated === 0 ? words.exact : words.estimated(estimated);
}
