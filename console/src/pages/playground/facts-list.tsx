import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { requestQuery } from '../../api/request-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatDuration, formatMoney } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Facts } from './run-request.ts';

const words = text.playground.facts;

/** The text for a request without token counts, such as a rejected one; the list leaves it out. */
const NO_TOKENS = `${words.none} / ${words.none}`;

interface FactsListProps {
  readonly facts: Partial<Facts>;
  /** Whether the response ended. */
  readonly isOver: boolean;
}

/** A receipt: what Relay decided about a request, from the response headers, and what it used and cost, from its record. */
export function FactsList({ facts: seen, isOver }: FactsListProps) {
  const { can } = useAccess();
  const facts = { ...seen, ...useRecorded(seen.requestId ?? null, isOver) };
  const { requestId } = facts;
  const count = (value: number | null | undefined) =>
    value === null || value === undefined ? words.none : formatCount(value);
  const duration = (value: number | null | undefined) =>
    value === null || value === undefined ? words.none : formatDuration(value);
  const cost = facts.isRecorded ? facts.costMicros : (facts.costMicros ?? facts.estimatedCostMicros);
  const costWords =
    cost === null || cost === undefined
      ? words.none
      : `${formatMoney(cost)}${facts.costMicros === null ? ` (${words.estimated.toLowerCase()})` : ''}`;
  const rows: readonly (readonly [string, string])[] = [
    [words.endpoint, facts.endpoint ?? words.none],
    [words.model, facts.upstreamModel ?? words.none],
    [words.wait, duration(facts.waitMs)],
    [words.fallbacks, count(facts.fallbacks)],
    [words.overhead, duration(facts.overheadMs)],
    [words.first, duration(facts.firstMs)],
    [words.total, duration(facts.totalMs)],
    [words.tokens, `${count(facts.input)} / ${count(facts.output)}`],
    [words.cost, costWords],
  ];
  return (
    <div className="mx-4 mb-3 max-w-md border bg-panel px-4 py-2 font-mono text-xs">
      <dl>
        {rows
          .filter(([, value]) => value !== words.none && value !== NO_TOKENS)
          .map(([name, value]) => (
            <div
              key={name}
              className="flex h-6 items-center justify-between gap-4 last:mt-1 last:h-8 last:border-t last:border-dashed last:border-line-strong last:text-[15px]"
            >
              <dt className="shrink-0 text-ink-soft">{name}</dt>
              <dd className="truncate" title={value}>
                {value}
              </dd>
            </div>
          ))}
      </dl>
      {requestId === null || requestId === undefined ? null : (
        <p className="mt-1.5 flex items-center gap-1 font-sans text-ink-faint">
          <span className="shrink-0">{words.requestId}</span>{' '}
          <code className="truncate font-mono">{requestId}</code>
          <CopyButton value={requestId} label={words.copyRequestId} />
          {can('getRequest') ? (
            <Link to="/requests/$requestId" params={{ requestId }} className="ml-auto shrink-0 rounded link">
              {words.openRequest}
            </Link>
          ) : null}
        </p>
      )}
    </div>
  );
}

/** The headers of a stream are sent before its cost is known, so the page reads what was recorded when it ended. */
function useRecorded(requestId: string | null, isOver: boolean) {
  const enabled = useAccess().can('getRequest') && isOver && requestId !== null;
  const { data } = useQuery({ ...requestQuery(useApi(), requestId ?? ''), enabled });
  if (data === undefined) return { isRecorded: false };
  return {
    isRecorded: true,
    costMicros: data.cost_micros,
    input: data.input_tokens,
    output: data.output_tokens,
  };
}
