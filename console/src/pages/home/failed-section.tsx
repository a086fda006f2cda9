import type { Endpoint, FailureCause, Failures } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatCount, formatShare } from '../../format/numbers.ts';
import { HealthSentence, healthTones } from '../../parts/health-badge.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Lights } from '../../ui/signal.tsx';
import { Ago } from '../../ui/time.tsx';
import { BlockedLink } from './blocked-link.tsx';
import { CauseAction, useOfferedAction } from './cause-action.tsx';
import { BigFigure, LeadSection } from './lead-section.tsx';
import type { Figure } from './use-home-figures.ts';

const words = text.home.lead;
const CAUSES_SHOWN = 4;
const ENDPOINTS_SHOWN = 4;

interface FailedSectionProps {
  readonly requests: Figure;
  /** Without what guardrails blocked. */
  readonly failed: Pick<Figure, 'value' | 'before'>;
  readonly blocked: number;
  /** Without what guardrails blocked. Undefined while loading and without access. */
  readonly failures: Failures | undefined;
  readonly unwell: readonly Endpoint[];
}

/** What failed and why, and which endpoints are not healthy. */
export function FailedSection({ requests, failed, blocked, failures, unwell }: FailedSectionProps) {
  const isDown = unwell.some(({ health }) => health === 'down');
  const shown = failures?.causes.slice(0, CAUSES_SHOWN) ?? [];
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
          />
        ))}
        {unwell.slice(0, ENDPOINTS_SHOWN).map((endpoint) => (
          <EndpointRow key={endpoint.id} endpoint={endpoint} />
        ))}
      </ul>
      {shown.length > 0 && others > 0 ? (
        <p className="border-t pt-1.5 text-xs text-ink-faint">{words.otherCauses(formatCount(others))}</p>
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
  const { error_code: code, endpoint_id: endpoint, lane_id: lane, guardrail_id: guardrail } = cause;
  return [code, endpoint, lane, guardrail, cause.limited_by?.policy_id].join(' ');
}

function CauseRow({ cause, share }: CauseRowProps) {
  const action = useOfferedAction(cause.action);
  const { error_code: code, requests, summary, last_at: last, http_status: status } = cause;
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
          {words.last} <Ago at={last} />
          {action === null ? null : (
            <>
              {' · '}
              <RequestsLink cause={cause} className="link" />
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

interface CauseRowProps {
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
