import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Refusal, type RefusalQuestion, refusalsQuery } from '../../api/limit-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Section } from '../../ui/detail-list.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';
import type { LimitRow } from './limit-row.ts';

const words = text.limits.refusals;

/** The latest requests that this limit rejected. */
export function RefusalsSection({ row }: { readonly row: LimitRow }) {
  const mayRead = useAccess().can('listRequests');
  const refusals = useQuery({ ...refusalsQuery(useApi(), questionOf(row)), enabled: mayRead });
  return (
    <Section title={words.title}>
      {!mayRead ? (
        <p className="text-[13px] text-ink-soft">{words.forbidden}</p>
      ) : refusals.error !== null && refusals.data === undefined ? (
        <ErrorNote error={refusals.error} />
      ) : refusals.data === undefined ? (
        <Skeleton className="w-64" />
      ) : (
        <Refusals row={row} latest={refusals.data} />
      )}
    </Section>
  );
}

function Refusals({ row, latest }: { readonly row: LimitRow; readonly latest: readonly Refusal[] }) {
  const own = latest.filter(({ policy }) => policy?.policy_id === row.id);
  return (
    <div className="space-y-2 text-[13px]">
      <p className="text-ink-soft">
        {latest.length === 0
          ? words.noneNoted
          : own.length === 0
            ? words.none
            : words.count(own.length, latest.length)}
      </p>
      {own.length === 0 ? null : (
        <ul className="divide-y rounded-lg border">
          {own.map(({ request }) => (
            <li key={request.request_id} className="flex items-center gap-3 px-3 py-1.5">
              <span className="w-28 shrink-0 text-ink-soft">
                <Ago at={request.arrived_at} />
              </span>
              <Link
                to="/requests/$requestId"
                params={{ requestId: request.request_id }}
                className="min-w-0 flex-1 truncate font-mono text-xs underline decoration-line-strong underline-offset-2"
              >
                {request.request_id}
              </Link>
              <span className="max-w-32 truncate text-xs text-ink-faint max-sm:hidden">
                {request.model ?? ''}
              </span>
              <CopyButton value={request.request_id} label={text.errors.copyRequestId} />
            </li>
          ))}
        </ul>
      )}
      <p className="text-xs text-ink-faint">{words.waits}</p>
    </div>
  );
}

/** The narrowest filter of the request log: a rejected request has a caller and a lane, but no endpoint. */
function questionOf({ kind, subjectId, scope, scopeId }: LimitRow): RefusalQuestion {
  return {
    ...(kind === 'user' && subjectId !== null ? { user_uuid: subjectId } : {}),
    ...(kind === 'api_key' && subjectId !== null ? { api_key_id: subjectId } : {}),
    ...(scope === 'lane' && scopeId !== null ? { lane_id: scopeId } : {}),
  };
}
