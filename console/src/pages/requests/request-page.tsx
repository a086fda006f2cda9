import type { RequestDetail } from '@relay/contract';
import { isPastWaitBudget } from '@relay/contract/words';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useParams } from '@tanstack/react-router';
import { guardrailsQuery } from '../../api/guardrail-queries.ts';
import { requestQuery } from '../../api/request-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { ApiError } from '../../errors/api-error.ts';
import { formatCount, formatDuration, formatMoney } from '../../format/numbers.ts';
import { ExplainPanel } from '../../parts/explain-panel.tsx';
import { RequestStateBadge } from '../../parts/request-state-badge.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { BackLink } from '../../time-range/back-link.tsx';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { CostPanel } from './cost-panel.tsx';
import { DecisionPanel } from './decision-panel.tsx';
import { FailureNote } from './failure-note.tsx';
import { GuardrailsPanel } from './guardrails-panel.tsx';
import { IdsPanel, TimingsPanel } from './ids-panel.tsx';
import { RequestStory } from './request-story.tsx';
import { withTrueFirstToken } from './story.ts';
import { nameIn, namesOf, type RequestNames, useRequestNames } from './use-request-names.ts';
import { WaterfallPanel } from './waterfall-panel.tsx';

const words = text.requests.detail;

/** One finished request in detail. */
export function RequestPage() {
  const { requestId } = useParams({ from: '/signed-in/requests/$requestId' });
  const list = useLocation({ select: ({ state }) => state.requestList });
  const names = useRequestNames();
  const request = useQuery(requestQuery(useApi(), requestId));
  const { data, error } = request;
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <Page
      back={
        <BackLink to="/requests" shown={list}>
          {words.back}
        </BackLink>
      }
      title={isMissing ? words.notFound : titleOf(data)}
      description={
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
          <code className="font-mono text-[13px] break-all">{requestId}</code>
          <CopyButton value={requestId} label={words.copyId} />
          {data === undefined ? null : <Badges detail={data} />}
        </span>
      }
    >
      {isMissing ? (
        <p className="max-w-2xl text-ink-soft">{words.notFoundWhy}</p>
      ) : error !== null && data === undefined ? (
        <ErrorCard error={error} onRetry={() => void request.refetch()} />
      ) : data === undefined ? (
        <DetailSkeleton />
      ) : (
        <Detail key={requestId} detail={withTrueFirstToken(data)} names={names} />
      )}
    </Page>
  );
}

function titleOf(detail: RequestDetail | undefined): string {
  if (detail === undefined) return words.title;
  return `${words.title}: ${detail.model ?? text.requests.noModel}`;
}

function Badges({ detail }: { readonly detail: RequestDetail }) {
  return (
    <>
      <RequestStateBadge state={detail.state} />
      <Badge>{detail.http_status}</Badge>
      <Badge>{text.requests.operations[detail.operation]}</Badge>
      {detail.streaming ? <Badge>{words.streaming}</Badge> : null}
      {isPastWaitBudget(detail) ? (
        <Badge tone="warn">{words.pastWaitBudget(formatDuration(detail.wait_budget_ms ?? 0))}</Badge>
      ) : null}
    </>
  );
}

function Detail({ detail, names }: { readonly detail: RequestDetail; readonly names: RequestNames }) {
  const { can } = useAccess();
  const guardrails = useQuery({
    ...guardrailsQuery(useApi()),
    select: namesOf,
    enabled: can('listGuardrails') && detail.guardrails.length > 0,
  });
  return (
    <div className="space-y-5">
      {detail.state === 'failed' && detail.error_code !== null ? (
        <FailureNote code={detail.error_code} at={detail.arrived_at} />
      ) : null}
      <RequestStory detail={detail} names={names} />
      <Facts detail={detail} />
      <WaterfallPanel detail={detail} names={names} guardrailNames={guardrails.data} />
      <div className="grid items-start gap-x-7 gap-y-5 xl:grid-cols-[minmax(0,1fr)_400px]">
        <div className="min-w-0 space-y-5">
          <DecisionPanel detail={detail} />
          <GuardrailsPanel verdicts={detail.guardrails} names={guardrails.data} />
          {detail.model === null ? null : (
            <ExplainPanel
              title={words.explain}
              hint={words.explainHint}
              model={detail.model}
              operation={detail.operation}
              endpointNameOf={(id) => (id === '' ? '' : nameIn(names.endpoint, id))}
            />
          )}
        </div>
        <div className="min-w-0 space-y-5">
          <CostPanel detail={detail} names={names} />
          <IdsPanel detail={detail} names={names} />
          <TimingsPanel detail={detail} />
        </div>
      </div>
    </div>
  );
}

function Facts({ detail }: { readonly detail: RequestDetail }) {
  const { none } = text.requests;
  const count = (value: number | null) => (value === null ? none : formatCount(value));
  const first = detail.timings.first_content_ms;
  const facts: readonly (readonly [string, string])[] = [
    [words.facts.duration, formatDuration(detail.duration_ms)],
    [words.facts.wait, formatDuration(detail.wait_ms)],
    [words.facts.first, first === null ? none : formatDuration(first)],
    [words.facts.tokens, `${count(detail.input_tokens)} / ${count(detail.output_tokens)}`],
    [words.facts.cost, detail.cost_micros === null ? none : formatMoney(detail.cost_micros)],
    [words.facts.fallbacks, formatCount(detail.fallback_count)],
  ];
  return (
    <dl className="grid grid-cols-2 border-y sm:grid-cols-3 lg:grid-cols-6">
      {facts.map(([name, value]) => (
        <div key={name} className="py-2 pr-3 lg:border-l lg:pl-3 lg:first:border-l-0 lg:first:pl-0">
          <dt className="text-xs text-ink-faint">{name}</dt>
          <dd className="mt-0.5 truncate text-[15px] font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function DetailSkeleton() {
  const panels = [words.waterfall.title, words.decision.title, words.cost.title];
  return (
    <div className="space-y-5">
      <Skeleton className="h-17 w-full rounded-xl" />
      {panels.map((title) => (
        <Panel key={title} title={title}>
          <div className="space-y-4 p-4">
            <Skeleton className="w-full" />
            <Skeleton className="w-2/3" />
          </div>
        </Panel>
      ))}
    </div>
  );
}
