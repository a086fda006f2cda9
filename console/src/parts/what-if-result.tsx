import type { WhatIf } from '@relay/contract';
import type { ReactNode } from 'react';
import { formatCount } from '../format/numbers.ts';
import { formatDateTime } from '../format/times.ts';
import { text } from '../text/index.ts';
import { classes } from '../ui/class-names.ts';
import { amountOf, ruleOf } from './limit-metrics.ts';
import { useTouchedNames } from './use-touched-names.ts';
import { callerWords, type DifferenceTone, endpointWords, figureRows, limitEffect } from './what-if-rows.ts';

const words = text.whatIf;
const LISTED_MAX = 5;

const TONES: Record<DifferenceTone, string> = {
  good: 'text-good',
  bad: 'text-bad',
  wait: 'text-wait-ink',
  plain: 'text-ink-soft',
};

/** The difference in a sentence, and what it is of. */
export function WhatIfSummary({ result }: { readonly result: WhatIf }) {
  const { requests, left_out: leftOut, cut } = result;
  if (requests === 0) return <p>{leftOut === 0 ? words.noRequests : words.leftOut(leftOut)}</p>;
  return (
    <>
      <p className="text-xs text-ink-faint">{words.replayed(requests)}</p>
      <p className="mt-1 text-lg leading-6 text-pretty">{result.summary}</p>
      {cut === null ? null : (
        <p className="mt-1 text-xs text-warn">
          {cut === 'requests'
            ? words.cut.requests(formatCount(requests), formatDateTime(result.from))
            : words.cut.time(formatDateTime(result.to))}
        </p>
      )}
    </>
  );
}

/** What the edit would have done to the replayed requests. */
export function WhatIfDetails({ result }: { readonly result: WhatIf }) {
  const { requests, after, history } = result;
  if (requests === 0) return null;
  return (
    <div>
      <Figures result={result} />
      <p className="mt-1.5 text-xs text-ink-faint">{words.compared(history.rejected)}</p>
      {after.unpriced === 0 ? null : (
        <p className="mt-1 text-xs text-ink-faint">{words.unpriced(after.unpriced)}</p>
      )}
      <Touched result={result} />
    </div>
  );
}

function Figures({ result }: { readonly result: WhatIf }) {
  const { columns } = words;
  return (
    <table className="mt-2.5 w-full tabular-nums">
      <caption className="sr-only">{words.figures}</caption>
      <thead>
        <tr className="border-b text-xs text-ink-faint">
          <th scope="col" className="font-normal">
            <span className="sr-only">{columns.figure}</span>
          </th>
          <th scope="col" className="py-1 pl-3 text-right font-normal">
            {columns.now}
          </th>
          <th scope="col" className="py-1 pl-3 text-right font-normal">
            {columns.after}
          </th>
          <th scope="col" className="font-normal">
            <span className="sr-only">{columns.difference}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {figureRows(result).map(({ label, now, after, difference, tone }) => (
          <tr key={label} className="h-[31px] border-b">
            <th scope="row" className="text-left font-normal">
              {label}
            </th>
            <td className="pl-3 text-right whitespace-nowrap text-ink-faint">{now}</td>
            <td className="pl-3 text-right font-semibold whitespace-nowrap">{after}</td>
            <td className={classes('pl-3 text-right whitespace-nowrap', TONES[tone])}>{difference}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The keys, limits and endpoints that the edit touches. */
function Touched({ result: { keys, limits, endpoints } }: { readonly result: WhatIf }) {
  const nameOf = useTouchedNames();
  return (
    <>
      <TouchedList
        title={words.keys}
        rows={keys.map((caller) => ({
          id: `${caller.key_id} ${caller.user_id}`,
          name: callerName(caller, nameOf),
          effect: callerWords(caller),
        }))}
      />
      <TouchedList
        title={words.limits}
        rows={limits.map((limit) => ({
          id: `${limit.policy_id} ${limit.scope_id}`,
          name: limitName(limit, nameOf),
          effect: limitEffect(limit),
        }))}
      />
      <TouchedList
        title={words.endpoints}
        rows={endpoints.map((endpoint) => ({
          id: endpoint.endpoint_id,
          name: endpoint.endpoint_name,
          effect: endpointWords(endpoint),
        }))}
      />
    </>
  );
}

interface TouchedRow {
  readonly id: string;
  readonly name: ReactNode;
  readonly effect: string;
}

function TouchedList({ title, rows }: { readonly title: string; readonly rows: readonly TouchedRow[] }) {
  if (rows.length === 0) return null;
  const hidden = rows.length - LISTED_MAX;
  return (
    <>
      <h3 className="mt-3.5 text-xs font-medium text-ink-soft">{title}</h3>
      <ul>
        {rows.slice(0, LISTED_MAX).map(({ id, name, effect }) => (
          <li key={id} className="flex flex-wrap justify-between gap-x-3 border-b py-1.5">
            <span className="min-w-0 break-words">{name}</span>
            <span className="text-ink-soft">{effect}</span>
          </li>
        ))}
      </ul>
      {hidden > 0 ? <p className="mt-1 text-xs text-ink-faint">{words.more(hidden)}</p> : null}
    </>
  );
}

function callerName(caller: WhatIf['keys'][number], nameOf: (id: string) => string): string {
  if (caller.key_id !== null) return words.key(nameOf(caller.key_id));
  return caller.user_id === null ? words.noKey : words.member(nameOf(caller.user_id));
}

/** "Shared limit, 30 requests per minute (600 now)". */
function limitName(limit: WhatIf['limits'][number], nameOf: (id: string) => string): string {
  const { policy_kind: kind, metric, period, limit_before: before, limit_after: after } = limit;
  const rule = ruleOf({ metric, period, limit: after ?? before ?? 0 });
  const on = limit.scope_id === null ? '' : `, ${nameOf(limit.scope_id)}`;
  const changed =
    after === null
      ? words.removedLimit
      : before === null
        ? words.newLimit
        : before === after
          ? null
          : words.wasLimit(amountOf(metric, before));
  return `${text.limits.kindOf[kind]}${on}, ${rule}${changed === null ? '' : ` (${changed})`}`;
}
