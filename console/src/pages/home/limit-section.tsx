import type { NextLimit } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../format/numbers.ts';
import { formatSpan } from '../../format/spans.ts';
import { FillBar } from '../../parts/limit-bar.tsx';
import { haveRejected, namedLimitOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { Plate } from '../../ui/plate.tsx';
import { useNow } from '../../ui/use-now.ts';
import { aboutOf } from './about-amount.ts';
import { LeadSection } from './lead-section.tsx';
import { LimitFigure } from './limit-figure.tsx';
import { groupLimits, type NextToReach } from './limit-groups.ts';

const words = text.home.lead;
const REACHED_SHOWN = 4;
const MORE_SHOWN = 3;
const TICK_MS = 1_000;

interface LimitSectionProps {
  /** The first to run out first, then the tightest first. */
  readonly limits: readonly NextLimit[];
  /** Whether these are of all limits of the organization. */
  readonly isWhole: boolean;
  /** How many limits there are. */
  readonly total: number;
}

/** The limits that are reached, and apart from them the next to be reached; otherwise the tightest ones. */
export function LimitSection({ limits, isWhole, total }: LimitSectionProps) {
  const nowMs = useNow(TICK_MS);
  const { reached, next, lasting } = groupLimits(limits, nowMs);
  // Those that are reached come first; only beyond them it is known that no other will be.
  const knowsOthers = isWhole && (lasting.length > 0 || limits.length === total);
  return (
    <div className="min-w-0 space-y-5">
      {reached.length === 0 ? null : <Reached limits={reached} nowMs={nowMs} isDrawn={next.length === 0} />}
      {next.length + lasting.length === 0 && !isWhole ? null : (
        <Next
          next={next}
          lasting={lasting}
          nowMs={nowMs}
          nothing={knowsOthers ? (reached.length === 0 ? words.noLimit : words.noOtherLimit) : null}
        />
      )}
    </div>
  );
}

function Reached({ limits, nowMs, isDrawn }: ReachedProps) {
  const [first] = limits;
  const more = limits.length - REACHED_SHOWN;
  return (
    <LeadSection title={words.reached} tone="bad" action={<AllLimits />}>
      {haveRejected(limits, nowMs) ? (
        <p className="mb-2 min-h-5 font-semibold text-bad">{words.rejectsNow}</p>
      ) : (
        <p className="mb-2 min-h-5">{words.rejectedNone}</p>
      )}
      {isDrawn && first !== undefined ? <LimitFigure usage={first} nowMs={nowMs} /> : null}
      <ul>
        {limits.slice(0, REACHED_SHOWN).map((usage) => (
          <li
            key={usage.policy_id}
            className="grid min-h-[30px] grid-cols-[minmax(0,1fr)_auto] items-center gap-3 border-t py-1"
          >
            <LimitLink usage={usage}>{namedLimitOf(usage)}</LimitLink>
            <span className="text-right text-xs text-ink-soft">
              <Resets usage={usage} nowMs={nowMs} />
            </span>
          </li>
        ))}
      </ul>
      {more <= 0 ? null : (
        <p className="border-t pt-1.5 text-xs">
          <Link to="/limits" className="link">
            {words.moreReached(formatCount(more))}
          </Link>
        </p>
      )}
    </LeadSection>
  );
}

interface ReachedProps {
  readonly limits: readonly NextLimit[];
  readonly nowMs: number;
  /** Shows how the first was used up. */
  readonly isDrawn: boolean;
}

function Resets({ usage: { resets_at: at }, nowMs }: { readonly usage: NextLimit; readonly nowMs: number }) {
  if (at === null || Date.parse(at) <= nowMs) return words.now;
  return (
    <>
      {words.ends.resets} <Plate size="small">{formatSpan(Date.parse(at) - nowMs)}</Plate>
    </>
  );
}

function AllLimits() {
  return (
    <Link to="/limits" className="link">
      {words.viewLimits}
    </Link>
  );
}

function Next({ next, lasting, nowMs, nothing }: NextProps) {
  const [first, ...rest] = next;
  const rows = first === undefined ? lasting.map((usage) => ({ usage, atMs: null })) : rest;
  return (
    <LeadSection title={words.limit} tone={first === undefined ? 'none' : 'warn'} action={<AllLimits />}>
      {first !== undefined ? (
        <First of={first} nowMs={nowMs} />
      ) : nothing === null ? null : (
        <p className="mb-2 text-[15px] leading-5">{nothing}</p>
      )}
      <ul>
        {rows.slice(0, MORE_SHOWN).map(({ usage, atMs }) => (
          <li
            key={usage.policy_id}
            className="grid min-h-[30px] grid-cols-[minmax(0,1fr)_44px_64px] items-center gap-2 border-t py-1"
          >
            <LimitLink usage={usage}>{namedLimitOf(usage)}</LimitLink>
            <FillBar usage={usage} />
            <span className="text-right text-xs text-ink-soft">
              {atMs === null
                ? words.left(aboutOf(usage.metric, usage.remaining))
                : words.inSpan(formatSpan(atMs - nowMs))}
            </span>
          </li>
        ))}
      </ul>
    </LeadSection>
  );
}

interface NextProps {
  readonly next: readonly NextToReach[];
  readonly lasting: readonly NextLimit[];
  readonly nowMs: number;
  /** What to say without a next one; null where the limits of others are unknown. */
  readonly nothing: string | null;
}

function First({ of: { usage, atMs }, nowMs }: { readonly of: NextToReach; readonly nowMs: number }) {
  return (
    <>
      <p className="flex min-h-[34px] flex-wrap items-center gap-x-2.5 gap-y-1 text-[15px] leading-5">
        {atMs === null ? (
          <span className="font-semibold text-warn">
            {words.almostReached(aboutOf(usage.metric, usage.remaining))}
          </span>
        ) : (
          <>
            <Plate size="big">{formatSpan(atMs - nowMs)}</Plate>
            {words.untilRejections}
          </>
        )}
      </p>
      <p className="mt-1 mb-2.5 text-xs text-ink-faint">
        <LimitLink usage={usage}>
          {words.usedOf(aboutOf(usage.metric, usage.limit - usage.remaining), namedLimitOf(usage))}
        </LimitLink>
        {usage.forecast === null ? '' : ` · ${words.forecastAtReset(aboutOf(usage.metric, usage.forecast))}`}
        {usage.resets_at === null || Date.parse(usage.resets_at) <= nowMs
          ? ''
          : ` · ${words.resetsIn(formatSpan(Date.parse(usage.resets_at) - nowMs))}`}
      </p>
      <LimitFigure usage={usage} nowMs={nowMs} />
    </>
  );
}

/** "$50.00 per day for key Support bot". */
function LimitLink({ usage, children }: { readonly usage: NextLimit; readonly children: string }) {
  return (
    <Link
      to="/limits"
      search={{ open: usage.policy_id }}
      className="link text-pretty break-words text-ink"
      title={children}
    >
      {children}
    </Link>
  );
}
