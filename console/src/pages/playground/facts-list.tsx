import { Link } from '@tanstack/react-router';
import { formatCount, formatDuration, formatMoney } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Facts } from './run-request.ts';

const words = text.playground.facts;

/** The text for a request without token counts, such as a rejected one; the list leaves it out. */
const NO_TOKENS = `${words.none} / ${words.none}`;

/** What Relay decided about a request, from the response headers. */
export function FactsList({ facts }: { readonly facts: Partial<Facts> }) {
  const { requestId } = facts;
  const { can } = useAccess();
  const count = (value: number | null | undefined) =>
    value === null || value === undefined ? words.none : formatCount(value);
  const duration = (value: number | null | undefined) =>
    value === null || value === undefined ? words.none : formatDuration(value);
  const cost = facts.costMicros ?? facts.estimatedCostMicros ?? null;
  const costWords =
    cost === null
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
    <div className="border-t bg-sunken px-4 py-3 text-xs">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-3">
        {rows
          .filter(([, value]) => value !== words.none && value !== NO_TOKENS)
          .map(([name, value]) => (
            <div key={name} className="min-w-0">
              <dt className="text-ink-faint">{name}</dt>
              <dd className="truncate font-medium tabular-nums" title={value}>
                {value}
              </dd>
            </div>
          ))}
      </dl>
      {requestId === null || requestId === undefined ? null : (
        <p className="mt-2.5 flex items-center gap-1 text-ink-faint">
          {words.requestId} <code className="truncate font-mono">{requestId}</code>
          <CopyButton value={requestId} label={words.copyRequestId} />
          {can('getRequest') ? (
            <Link
              to="/requests/$requestId"
              params={{ requestId }}
              className="shrink-0 rounded text-ink-soft hover:text-ink hover:underline"
            >
              {words.openRequest}
            </Link>
          ) : null}
        </p>
      )}
    </div>
  );
}
