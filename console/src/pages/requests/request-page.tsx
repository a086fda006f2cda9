import type { RequestDetail } from '@relay/contract';
import { isPastWaitBudget } from '@relay/contract/words';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useParams } from '@tanstack/react-router';
import { type ReactNode, type Ref, useRef } from 'react';
import { guardrailsQuery } from '../../api/guardrail-queries.ts';
import { requestQuery } from '../../api/request-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { ApiError } from '../../errors/api-error.ts';
import { formatDuration } from '../../format/numbers.ts';
import { formatExactTime } from '../../format/times.ts';
import { ExplainPanel } from '../../parts/explain-panel.tsx';
import { stateTones } from '../../parts/request-state-badge.tsx';
import { ResourceLink } from '../../parts/resource-link.tsx';
import { useAccess } from '../../session/use-access.ts';
import { useKeylessName } from '../../session/use-keyless-name.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Lights } from '../../ui/signal.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { CostPanel } from './cost-panel.tsx';
import { DecisionPanel } from './decision-panel.tsx';
import { DetailActions } from './detail-actions.tsx';
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
  const explainRef = useRef<HTMLDivElement>(null);
  const explain = () => {
    const form = explainRef.current?.querySelector('form');
    form?.requestSubmit();
    explainRef.current?.scrollIntoView();
  };
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <Page
      back={<Crumbs requestId={requestId} list={list} />}
      title={isMissing ? words.notFound : titleOf(data)}
      {...(data !== undefined && { heading: <Heading detail={data} /> })}
      actions={data === undefined ? undefined : <DetailActions detail={data} onExplain={explain} />}
    >
      {isMissing ? (
        <p className="max-w-2xl text-ink-soft">{words.notFoundWhy}</p>
      ) : error !== null && data === undefined ? (
        <ErrorCard error={error} onRetry={() => void request.refetch()} />
      ) : data === undefined ? (
        <DetailSkeleton />
      ) : (
        <Detail key={requestId} detail={withTrueFirstToken(data)} names={names} explainRef={explainRef} />
      )}
    </Page>
  );
}

function titleOf(detail: RequestDetail | undefined): string {
  if (detail === undefined) return words.title;
  return `${words.title}: ${detail.model ?? text.requests.noModel}`;
}

interface CrumbsProps {
  readonly requestId: string;
  /** The filters of the list that the request was opened from. */
  readonly list: object | undefined;
}

function Crumbs({ requestId, list }: CrumbsProps) {
  return (
    <nav
      aria-label={words.crumbs}
      className="mb-1 flex flex-wrap items-center gap-x-1.5 text-xs text-ink-faint"
    >
      <Link to="/requests" search={{ ...list }} className="link">
        {words.back}
      </Link>
      <span aria-hidden>/</span>
      <code className="font-mono break-all max-sm:text-[11px]">{requestId}</code>
      <CopyButton value={requestId} label={words.copyId} />
    </nav>
  );
}

/** How the request ended, and what kind of request it was. */
function Heading({ detail }: { readonly detail: RequestDetail }) {
  const { state, http_status: status, operation, streaming, fallback_count: fallbacks } = detail;
  const facts = [
    String(status),
    text.requests.operations[operation],
    ...(streaming ? [words.streamed] : []),
    ...(fallbacks > 0 ? [words.fallbacks(fallbacks)] : []),
  ];
  return (
    <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      <span className="flex items-center gap-2">
        <Lights tone={stateTones[state]} />
        {text.requests.states[state]}
      </span>
      <span className="text-sm font-normal tracking-normal text-ink-faint">{facts.join(', ')}</span>
      {isPastWaitBudget(detail) ? (
        <Badge tone="warn">{words.pastWaitBudget(formatDuration(detail.wait_budget_ms ?? 0))}</Badge>
      ) : null}
    </span>
  );
}

interface DetailProps {
  readonly detail: RequestDetail;
  readonly names: RequestNames;
  readonly explainRef: Ref<HTMLDivElement>;
}

function Detail({ detail, names, explainRef }: DetailProps) {
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
      <div className="space-y-1.5">
        <RequestStory detail={detail} names={names} />
        <Whereabouts detail={detail} names={names} />
      </div>
      <WaterfallPanel detail={detail} names={names} guardrailNames={guardrails.data} />
      <div className="grid items-start gap-x-7 gap-y-5 xl:grid-cols-[minmax(0,1fr)_400px]">
        <div className="min-w-0 space-y-5">
          <DecisionPanel detail={detail} />
          <GuardrailsPanel verdicts={detail.guardrails} names={guardrails.data} />
          {detail.model === null ? null : (
            <div ref={explainRef} className="scroll-mt-16">
              <ExplainPanel
                title={words.explain}
                hint={words.explainHint}
                model={detail.model}
                operation={detail.operation}
                endpointNameOf={(id) => (id === '' ? '' : nameIn(names.endpoint, id))}
              />
            </div>
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

/** Who sent the request, when, and to which lane. */
function Whereabouts({ detail, names }: { readonly detail: RequestDetail; readonly names: RequestNames }) {
  const { lane_id: lane, api_key_id: key, user_uuid: user } = detail;
  const { where } = words;
  const keyless = useKeylessName();
  const parts = [
    lane === null
      ? [where.model, detail.model ?? text.requests.noModel]
      : [where.lane, named('lane', lane, names)],
    [where.key, key === null ? keyless : named('key', key, names)],
    ...(user === null || names.user === undefined ? [] : [[where.user, named('user', user, names)]]),
  ] as const;
  return (
    <p className="flex flex-wrap gap-x-4.5 gap-y-1 text-xs text-ink-faint">
      {parts.map(([name, value]) => (
        <span key={String(name)}>
          {name} <b className="font-medium text-ink">{value}</b>
        </span>
      ))}
      <Time at={detail.arrived_at} format={formatExactTime} />
      <span>{where.private}</span>
    </p>
  );
}

function named(kind: 'lane' | 'key' | 'user', id: string, names: RequestNames): ReactNode {
  return <ResourceLink kind={kind} id={id} name={nameIn(names[kind], id)} />;
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
