import type { Endpoint, FailureCause, Failures } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { formatCount, formatShare } from '../../format/numbers.ts';
import { HealthSentence, healthTones } from '../../parts/health-badge.tsx';
import { isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { Button } from '../../ui/button.tsx';
import { Lights } from '../../ui/signal.tsx';
import { BlockedLink } from './blocked-link.tsx';
import { CauseAction, useOfferedAction } from './cause-action.tsx';
import { CauseTimes } from './cause-times.tsx';
import { mergeCauses } from './causes.ts';
import type { FailingLane } from './failing-lanes.ts';
import { BigFigure, LeadSection } from './lead-section.tsx';
import type { Figure } from './use-home-figures.ts';

const words = text.home.lead;
const CAUSES_SHOWN = 6;
const LANES_SHOWN = 2;
const ENDPOINTS_SHOWN = 4;

interface FailedSectionProps {
  readonly requests: Figure;
  /** Without what guardrails blocked. */
  readonly failed: Pick<Figure, 'value' | 'before'>;
  readonly blocked: number;
  /** Without what guardrails blocked. Undefined while loading and without access. */
  readonly failures: Failures | undefined;
  /** Lanes of which most requests fail. */
  readonly lanes: readonly FailingLane[];
  /** The enabled ones. */
  readonly endpoints: readonly Endpoint[];
  readonly range: TimeRange;
}

/** What failed and why, in which lanes, and which endpoints are not healthy. */
export function FailedSection(props: FailedSectionProps) {
  const { requests, failed, blocked, failures, lanes, endpoints, range } = props;
  const unwell = endpoints.filter(({ health }) => isUnwell(health));
  const isDown = unwell.some(({ health }) => health === 'down');
  const shown = useMemo(() => mergeCauses(failures?.causes ?? []), [failures]).slice(0, CAUSES_SHOWN);
  const others = (failures?.requests ?? 0) - shown.reduce((sum, cause) => sum + cause.requests, 0);
  return (
    <LeadSection
      title={words.failed}
      tone={failed.value > 0 || isDown ? 'bad' : unwell.length > 0 ? 'warn' : 'none'}
      action={
        failed.value > 0 ? (
          <Link to="/requests" search={{ state: 'failed' }} className="link">
            {/* The list has what was blocked too. */}
            {blocked === 0 ? words.viewAll(formatCount(failed.value)) : words.viewRequests}
          </Link>
        ) : null
      }
    >
      {failed.value === 0 ? (
        <p className="min-h-[34px] text-[15px] leading-[34px]">{words.noneFailed}</p>
      ) : (
        <>
          <BigFigure value={formatShare(failed.value / requests.value)} look="text-bad">
            {words.failedShare}
          </BigFigure>
          <p className="mb-2.5 text-xs text-ink-faint">
            {[
              words.failedOf(formatCount(failed.value), formatCount(requests.value)),
              requests.before === 0 ? null : words.shareBefore(formatShare(failed.before / requests.before)),
            ]
              .filter((part) => part !== null)
              .join(' · ')}
          </p>
        </>
      )}
      <ul>
        {shown.map((cause) => (
          <CauseRow
            key={identityOf(cause)}
            cause={cause}
            share={cause.requests / (failures?.requests ?? 1)}
            endpoints={endpoints}
            range={range}
          />
        ))}
        {lanes.slice(0, LANES_SHOWN).map((lane) => (
          <LaneRow key={lane.id} lane={lane} hasBlocked={blocked > 0} />
        ))}
        {unwell.slice(0, ENDPOINTS_SHOWN).map((endpoint) => (
          <EndpointRow key={endpoint.id} endpoint={endpoint} />
        ))}
      </ul>
      {shown.length > 0 && others > 0 ? (
        <p className="border-t pt-1.5 text-xs">
          <Link to="/requests" search={{ state: 'failed' }} className="link">
            {words.otherCauses(formatCount(others))}
          </Link>
        </p>
      ) : null}
      {blocked === 0 ? null : (
        <p className="border-t py-1.5 text-xs text-ink-soft">
          <BlockedLink blocked={blocked} />
        </p>
      )}
    </LeadSection>
  );
}

const ROW = 'grid grid-cols-[44px_minmax(0,1fr)_auto] items-center gap-2.5 border-t py-1.5';

/** What tells causes apart. Without what changes as more requests fail, so that a row keeps its place and focus. */
function identityOf(cause: FailureCause): string {
  const { error_code: code, provider_id: provider, endpoint_id: endpoint, lane_id: lane } = cause;
  const { guardrail_id: guardrail, limited_by: limit, action } = cause;
  return [code, provider, endpoint, lane, guardrail, limit?.policy_id, action?.resource_id].join(' ');
}

function CauseRow({ cause, share, endpoints, range }: CauseRowProps) {
  const action = useOfferedAction(cause.action);
  const { error_code: code, requests, summary, http_status: status } = cause;
  return (
    <li className={ROW}>
      <span className="relative flex h-[30px] items-center justify-end bg-sunken pr-[7px] font-semibold">
        <span
          aria-hidden
          className="absolute inset-x-0 bottom-0 bg-bad opacity-20"
          style={{ height: `${share * 100}%` }}
        />
        <span className="relative">{formatCount(requests)}</span>
      </span>
      <span className="min-w-0">
        <span className="block text-pretty" title={code ?? undefined}>
          {summary}
        </span>
        <span className="block text-xs text-ink-faint">
          {status === null ? null : `${status} · `}
          <CauseTimes cause={cause} endpoints={endpoints} range={range} />
          {action === null ? null : (
            <>
              {' · '}
              <RequestsLink cause={cause} className="link whitespace-nowrap" />
            </>
          )}
        </span>
      </span>
      {action === null ? (
        <Button asChild size="small">
          <RequestsLink cause={cause} />
        </Button>
      ) : (
        <CauseAction action={action} />
      )}
    </li>
  );
}

interface CauseRowProps extends Pick<FailedSectionProps, 'endpoints' | 'range'> {
  readonly cause: FailureCause;
  readonly share: number;
}

/** The requests of a cause, as far as the log can filter by it. */
function RequestsLink({ cause, className }: RequestsLinkProps) {
  const { error_code: code, endpoint_id: endpoint, lane_id: lane, summary } = cause;
  return (
    <Link
      to="/requests"
      {...(className !== undefined && { className })}
      search={{
        state: 'failed',
        ...(code !== null && { error: code }),
        ...(endpoint !== null && { endpoint }),
        ...(lane !== null && { lane }),
      }}
    >
      {words.viewRequests}
      <span className="sr-only">: {summary}</span>
    </Link>
  );
}

interface RequestsLinkProps {
  readonly cause: FailureCause;
  readonly className?: string;
}

/** A lane whose failures may be spread over many causes. */
function LaneRow({ lane: { id, name, failed, requests }, hasBlocked }: LaneRowProps) {
  const share = formatShare(failed / requests);
  return (
    <li className={ROW}>
      <span className="flex h-[30px] items-center justify-end bg-sunken pr-[7px] font-semibold">
        {formatCount(failed)}
      </span>
      <span className="min-w-0">
        <span className="block text-pretty">{words.lane(name)}</span>
        <span className="block text-xs text-ink-faint">
          {(hasBlocked ? words.laneFailedOrBlocked : words.laneFailed)(share, formatCount(requests))}
        </span>
      </span>
      <Button asChild size="small">
        <Link to="/requests" search={{ state: 'failed', lane: id }}>
          {words.viewRequests}
          <span className="sr-only">: {name}</span>
        </Link>
      </Button>
    </li>
  );
}

interface LaneRowProps {
  readonly lane: FailingLane;
  /** What a guardrail blocked counts as failed, too. */
  readonly hasBlocked: boolean;
}

function EndpointRow({ endpoint }: { readonly endpoint: Endpoint }) {
  return (
    <li className={ROW}>
      <span className="grid h-[30px] place-items-center bg-sunken">
        <Lights tone={healthTones[endpoint.health]} />
      </span>
      <span className="min-w-0">
        <span className="block truncate font-medium">{endpoint.name}</span>
        <span className="block text-xs text-ink-faint">
          <HealthSentence of={endpoint} />
        </span>
      </span>
      <Button asChild size="small">
        <Link to="/endpoints" search={{ open: endpoint.id }}>
          {words.openEndpoint}
          <span className="sr-only">: {endpoint.name}</span>
        </Link>
      </Button>
    </li>
  );
}
