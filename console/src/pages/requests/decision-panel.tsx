import type { BoundPolicy, RecordedCandidate, RequestDetail } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { requestLimitsQuery } from '../../api/limit-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatDuration } from '../../format/numbers.ts';
import { formatDateTime } from '../../format/times.ts';
import { verdictTones } from '../../parts/explain-panel.tsx';
import { boundLimitOf } from '../../parts/limit-metrics.ts';
import { ResourceLink } from '../../parts/resource-link.tsx';
import { SetPriceButton } from '../../parts/set-price-button.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { LimitsList } from './limits-list.tsx';
import { triedOf } from './tried.ts';

const words = text.requests.detail.decision;
const limitWords = text.requests.detail.limits;

/** The candidates with their verdicts, and the limit that applied. */
export function DecisionPanel({ detail }: { readonly detail: RequestDetail }) {
  const { candidates, bound_policy: bound } = detail;
  const api = useApi();
  const { can } = useAccess();
  const limits = useQuery({
    ...requestLimitsQuery(api, detail.request_id),
    enabled: can('getRequestLimits'),
  });
  const isListed =
    limits.data?.limits.some(({ policy_id: id }) => id === bound?.policy_id) ?? limits.isPending;
  return (
    <Panel
      title={words.title}
      actions={
        detail.wait_budget_ms === null ? null : (
          <span className="text-xs text-ink-faint">
            {words.waitBudget(formatDuration(detail.wait_budget_ms))}
          </span>
        )
      }
    >
      {bound === null || isListed ? null : <Limit bound={bound} />}
      {candidates.length === 0 ? (
        <p className="mx-4 border-t py-3 text-[13px] text-ink-soft">{words.none}</p>
      ) : (
        <ol className="mx-4">
          {candidates.map((candidate) => (
            <CandidateLine
              key={`${candidate.rank} ${candidate.endpoint_id}`}
              candidate={candidate}
              tried={triedOf(candidate, detail)}
            />
          ))}
        </ol>
      )}
      <div className="mx-4 mt-3">
        <h3 className="flex min-h-[30px] items-baseline justify-between gap-3 border-b border-line-strong pb-1 text-xs text-ink-faint">
          <span>{limitWords.title}</span>
          <span>{limitWords.now}</span>
        </h3>
        {limits.data === undefined ? (
          limits.error === null ? (
            <Skeleton className="my-2.5 w-2/3" />
          ) : (
            <ErrorNote error={limits.error} className="my-2.5" />
          )
        ) : (
          <LimitsList found={limits.data} bound={bound} />
        )}
        {bound === null ? <p className="py-1.5 text-xs text-ink-faint">{words.notBound}</p> : null}
      </div>
    </Panel>
  );
}

interface CandidateLineProps {
  readonly candidate: RecordedCandidate;
  readonly tried: ReturnType<typeof triedOf>;
}

function CandidateLine({ candidate, tried }: CandidateLineProps) {
  return (
    <li className="flex items-start gap-3 border-t py-2.5 text-[13px]">
      <span className="w-5 shrink-0 text-right text-ink-faint tabular-nums">{candidate.rank}</span>
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">
          {candidate.endpoint_name === null ? (
            words.deleted
          ) : (
            <ResourceLink kind="endpoint" id={candidate.endpoint_id} name={candidate.endpoint_name} />
          )}
        </p>
        <p className="text-xs text-ink-soft first-letter:uppercase">{tried?.reason ?? candidate.reason}</p>
        {candidate.verdict === 'unpriced' ? (
          <div className="mt-2">
            <SetPriceButton endpointId={candidate.endpoint_id} />
          </div>
        ) : null}
      </div>
      <div className="shrink-0 text-right">
        <Badge tone={tried?.tone ?? verdictTones[candidate.verdict]}>
          {tried?.word ?? text.lanes.explain.candidate[candidate.verdict]}
        </Badge>
        {candidate.wait_ms === null || candidate.wait_ms === 0 ? null : (
          <p className="mt-0.5 text-xs text-ink-faint">
            {text.lanes.explain.waits(formatDuration(candidate.wait_ms))}
          </p>
        )}
      </div>
    </li>
  );
}

function Limit({ bound }: { readonly bound: BoundPolicy }) {
  const { can } = useAccess();
  const isDeleted = bound.limit_value === null;
  return (
    <div className="flex items-start gap-3 px-4 py-3">
      <Gauge aria-hidden className="mt-0.5 size-4 shrink-0 text-wait-ink" />
      <div className="min-w-0 flex-1 text-[13px]">
        <p className="font-medium">{words.bound}</p>
        <p className="text-ink-soft">
          {boundLimitOf(bound)}
          {isDeleted ? `. ${words.boundDeleted}` : null}
          {isDeleted || bound.resets_at === null
            ? null
            : `. ${words.resets(formatDateTime(bound.resets_at))}`}
        </p>
      </div>
      {can('listLimitPolicies') && !isDeleted ? (
        <Link
          to="/limits"
          search={{ open: bound.policy_id }}
          className="shrink-0 text-[13px] font-medium link"
        >
          {words.openLimits}
        </Link>
      ) : null}
    </div>
  );
}
