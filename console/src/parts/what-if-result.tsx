import type { WhatIf } from '@relay/contract';
import type { ReactNode } from 'react';
import { counted, formatCount } from '../format/numbers.ts';
import { formatDateTime } from '../format/times.ts';
import { useKeylessName } from '../session/use-keyless-name.ts';
import { text } from '../text/index.ts';
import { classes } from '../ui/class-names.ts';
import { amountOf, ruleOf } from './limit-metrics.ts';
import { NameChanges } from './name-changes.tsx';
import { useTouchedNames } from './use-touched-names.ts';
import {
  comparedWords,
  type DifferenceTone,
  endpointWords,
  figureRows,
  limitEffect,
  partWords,
  type ReplayedPart,
  rejectingName,
  replayedParts,
} from './what-if-rows.ts';

const words = text.whatIf;
const LISTED_MAX = 5;

const TONES: Record<DifferenceTone, string> = {
  good: 'text-good',
  bad: 'text-bad',
  wait: 'text-wait-ink',
  plain: 'text-ink-soft',
};

interface WhatIfResultProps {
  readonly result: WhatIf;
  /** The lane that the edit is of; undefined for an edit of something else. */
  readonly laneId: string | undefined;
}

/** The difference in a sentence, and what it is of. */
export function WhatIfSummary({ result, laneId }: WhatIfResultProps) {
  const { requests: all, left_out: leftOut, cut } = result;
  const { part } = replayedParts(result, laneId);
  const { requests, lane_name: lane } = part;
  const isOfLimit = part === result.limit;
  if (all === 0) return <p>{leftOut === 0 ? words.noRequests : words.leftOut(leftOut)}</p>;
  return (
    <>
      {requests === 0 ? (
        <p>{isOfLimit ? words.noneOfLimit : words.noneToLane(lane ?? '')}</p>
      ) : (
        <>
          <p className="text-xs text-ink-faint">
            {isOfLimit
              ? words.replayedOfLimit(requests)
              : lane === undefined
                ? words.replayed(requests)
                : words.replayedTo(requests, lane)}
          </p>
          <p className="mt-1 text-lg leading-6 text-pretty">{part.summary}</p>
        </>
      )}
      <NameChanges changes={result.name_changes} />
      {cut === null ? null : (
        <p className="mt-1 text-xs text-warn">
          {cut === 'requests'
            ? words.cut.requests(formatCount(all), formatDateTime(result.from))
            : words.cut.time(formatDateTime(result.to))}
        </p>
      )}
    </>
  );
}

/** What the edit would have done to the replayed requests. */
export function WhatIfDetails({ result, laneId }: WhatIfResultProps) {
  const { part, otherLanes } = replayedParts(result, laneId);
  return (
    <div>
      {part.requests === 0 ? null : <PartDetails part={part} />}
      <TouchedList
        title={part.lane_name === undefined ? words.lanes : words.otherLanes}
        rows={otherLanes.map((lane) => ({
          id: lane.lane_id,
          name: lane.lane_name,
          effect: partWords(lane),
        }))}
      />
      <Touched result={result} />
    </div>
  );
}

function PartDetails({ part }: { readonly part: ReplayedPart }) {
  const { before, after, rejecting } = part;
  const nameOf = useTouchedNames();
  return (
    <>
      <Figures part={part} />
      <p className="mt-1.5 text-xs text-ink-faint">{comparedWords(part)}</p>
      {after.unpriced_requests === 0 ? null : (
        <p className="mt-1 text-xs text-ink-faint">{words.unpriced(after.unpriced_requests)}</p>
      )}
      <TouchedList
        title={before.rejected === 0 ? words.rejecting : words.stillRejecting}
        rows={rejecting.map((limit) => ({
          id: `${limit.policy_id} ${limit.scope_id}`,
          name: rejectingName(limit, nameOf),
          effect: counted(limit.requests, 'request'),
        }))}
      />
    </>
  );
}

function Figures({ part }: { readonly part: ReplayedPart }) {
  const { columns } = words;
  return (
    <table className="mt-2.5 w-full tabular-nums">
      <caption className="sr-only">{words.figures}</caption>
      <thead>
        <tr className="border-b align-bottom text-xs text-ink-faint">
          <th scope="col" className="font-normal">
            <span className="sr-only">{columns.figure}</span>
          </th>
          <th scope="col" className="py-1 pl-3 text-right font-normal">
            {columns.current}
          </th>
          <th scope="col" className="py-1 pl-3 text-right font-normal">
            {columns.edited}
          </th>
          <th scope="col" className="font-normal">
            <span className="sr-only">{columns.difference}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {figureRows(part).map(({ label, current, edited, counts, difference, tone }) => (
          <tr key={label} className="h-[31px] border-b">
            <th scope="row" className="text-left font-normal">
              {label}
            </th>
            <td className="py-1 pl-3 text-right whitespace-nowrap text-ink-faint">
              {current}
              {counts === null ? null : <Count of={counts.current} />}
            </td>
            <td className="py-1 pl-3 text-right font-semibold whitespace-nowrap">
              {edited}
              {counts === null ? null : <Count of={counts.edited} />}
            </td>
            <td className={classes('pl-3 text-right whitespace-nowrap', TONES[tone])}>{difference}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Count({ of }: { readonly of: string }) {
  return <span className="block text-xs font-normal text-ink-faint">{of}</span>;
}

/** The keys, limits and endpoints that the edit touches. */
function Touched({ result: { keys, limits, endpoints } }: { readonly result: WhatIf }) {
  const keyless = useKeylessName();
  const nameOf = useTouchedNames();
  return (
    <>
      <TouchedList
        title={words.keys}
        rows={keys.map((caller) => ({
          id: `${caller.key_id} ${caller.user_id}`,
          name: callerName(caller, nameOf, keyless),
          effect: partWords(caller),
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

function callerName(caller: WhatIf['keys'][number], nameOf: (id: string) => string, keyless: string): string {
  if (caller.key_id !== null) return words.key(nameOf(caller.key_id));
  return caller.user_id === null ? keyless : words.member(nameOf(caller.user_id));
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
