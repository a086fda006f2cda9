import type { RequestDetail } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { formatDuration } from '../../format/numbers.ts';
import { formatDateTime } from '../../format/times.ts';
import { keysOf, oneOf } from '../../format/values.ts';
import { verdictTones } from '../../parts/explain-panel.tsx';
import { SetPriceButton } from '../../parts/set-price-button.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/page.tsx';
import type { RequestNames } from './use-request-names.ts';

const words = text.requests.detail.decision;

interface DecisionPanelProps {
  readonly detail: RequestDetail;
  readonly names: RequestNames;
}

/** The candidates with their verdicts, and the limit that applied. */
export function DecisionPanel({ detail, names }: DecisionPanelProps) {
  const { candidates, bound_policy: bound } = detail;
  return (
    <Panel title={words.title}>
      {bound === null ? (
        <p className="px-4 py-3 text-[13px] text-ink-soft">{words.notBound}</p>
      ) : (
        <BoundPolicy bound={bound} names={names} />
      )}
      {candidates.length === 0 ? (
        <p className="mx-4 border-t py-3 text-[13px] text-ink-soft">{words.none}</p>
      ) : (
        <ol className="mx-4">
          {candidates.map((candidate) => (
            <li
              key={`${candidate.rank} ${candidate.endpoint_id}`}
              className="flex items-start gap-3 border-t py-2.5 text-[13px]"
            >
              <span className="w-5 shrink-0 text-right text-ink-faint tabular-nums">{candidate.rank}</span>
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium">{candidate.endpoint_name ?? words.deleted}</p>
                <p className="text-xs text-ink-soft first-letter:uppercase">{candidate.reason}</p>
                {candidate.verdict === 'unpriced' ? (
                  <div className="mt-2">
                    <SetPriceButton endpointId={candidate.endpoint_id} />
                  </div>
                ) : null}
              </div>
              <div className="shrink-0 text-right">
                <Badge tone={verdictTones[candidate.verdict]}>
                  {text.lanes.explain.candidate[candidate.verdict]}
                </Badge>
                {candidate.wait_ms === null || candidate.wait_ms === 0 ? null : (
                  <p className="mt-0.5 text-xs text-ink-faint">
                    {text.lanes.explain.waits(formatDuration(candidate.wait_ms))}
                  </p>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

interface BoundPolicyProps {
  readonly bound: NonNullable<RequestDetail['bound_policy']>;
  readonly names: RequestNames;
}

function BoundPolicy({ bound, names }: BoundPolicyProps) {
  const { can } = useAccess();
  return (
    <div className="flex items-start gap-3 px-4 py-3">
      <Gauge aria-hidden className="mt-0.5 size-4 shrink-0 text-wait-ink" />
      <div className="min-w-0 flex-1 text-[13px]">
        <p className="font-medium">{words.bound}</p>
        <p className="text-ink-soft">
          {words.boundBy(
            text.limits.metricNames[bound.metric],
            text.limits.periods[bound.period],
            scopeWords(bound, names),
          )}
          {bound.resets_at === null ? null : `. ${words.resets(formatDateTime(bound.resets_at))}`}
        </p>
      </div>
      {can('listLimitPolicies') ? (
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

function scopeWords(
  { scope_type: type, scope_id: id }: BoundPolicyProps['bound'],
  names: RequestNames,
): string {
  const known = oneOf(keysOf(words.scopes), type);
  const scope = known === undefined ? type : words.scopes[known];
  const kind = oneOf(keysOf(names), type === 'api_key' ? 'key' : type);
  const name = kind === undefined ? undefined : names[kind]?.get(id ?? '');
  return [scope, name ?? id].filter((part) => part !== null).join(' ');
}
