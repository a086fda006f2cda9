import type { Endpoint } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatCount, formatShare } from '../../format/numbers.ts';
import { HealthSentence, healthTones } from '../../parts/health-badge.tsx';
import { text } from '../../text/index.ts';
import { timeRangeSearch } from '../../time-range/time-range.ts';
import { Button } from '../../ui/button.tsx';
import { Lights } from '../../ui/signal.tsx';
import { Ago } from '../../ui/time.tsx';
import type { Cause } from './causes.ts';
import { BigFigure, LeadSection } from './lead-section.tsx';
import type { Figure } from './use-home-figures.ts';

const words = text.home.lead;
const CAUSES_SHOWN = 4;
const ENDPOINTS_SHOWN = 4;

interface FailedSectionProps {
  readonly requests: Figure;
  readonly failed: Figure;
  /** Undefined while loading and without access. */
  readonly causes: readonly Cause[] | undefined;
  readonly unwell: readonly Endpoint[];
}

/** What failed and why, and which endpoints are not healthy. */
export function FailedSection({ requests, failed, causes, unwell }: FailedSectionProps) {
  const isDown = unwell.some(({ health }) => health === 'down');
  const seen = causes?.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <LeadSection
      title={words.failed}
      tone={failed.value > 0 || isDown ? 'bad' : unwell.length > 0 ? 'warn' : 'none'}
      action={
        failed.value > 0 ? (
          <Link
            to="/requests"
            search={(before: Record<string, unknown>) => ({ ...timeRangeSearch(before), state: 'failed' })}
            className="link"
          >
            {words.viewAll(formatCount(failed.value))}
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
        {causes?.slice(0, CAUSES_SHOWN).map((cause) => (
          <CauseRow key={cause.code ?? ''} cause={cause} share={cause.count / seen} />
        ))}
        {unwell.slice(0, ENDPOINTS_SHOWN).map((endpoint) => (
          <EndpointRow key={endpoint.id} endpoint={endpoint} />
        ))}
      </ul>
      {seen > 0 && seen < failed.value ? (
        <p className="border-t pt-1.5 text-xs text-ink-faint">{words.ofLatest(formatCount(seen))}</p>
      ) : null}
    </LeadSection>
  );
}

const ROW = 'grid grid-cols-[44px_minmax(0,1fr)_auto] items-center gap-2.5 border-t py-1.5';

function CauseRow({ cause: { code, count, latest }, share }: CauseRowProps) {
  return (
    <li className={ROW}>
      <span className="relative flex h-[30px] items-center justify-end bg-sunken pr-[7px] font-semibold">
        <span
          aria-hidden
          className="absolute inset-x-0 bottom-0 bg-bad opacity-20"
          style={{ height: `${share * 100}%` }}
        />
        <span className="relative">{formatCount(count)}</span>
      </span>
      <span className="min-w-0">
        <span className="block truncate font-mono text-xs" title={code ?? undefined}>
          {code ?? text.states.empty}
        </span>
        <span className="block truncate text-xs text-ink-faint">
          {latest.http_status} · {words.last} <Ago at={latest.finished_at} />
        </span>
      </span>
      <Button asChild size="small">
        <Link
          to="/requests"
          search={(before: Record<string, unknown>) => ({
            ...timeRangeSearch(before),
            state: 'failed',
            ...(code !== null && { error: code }),
          })}
        >
          {words.viewRequests}
          <span className="sr-only">: {code ?? ''}</span>
        </Link>
      </Button>
    </li>
  );
}

interface CauseRowProps {
  readonly cause: Cause;
  readonly share: number;
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
