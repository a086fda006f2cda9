import type { NamedLimit } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatSpan } from '../../format/spans.ts';
import { FillBar } from '../../parts/limit-bar.tsx';
import type { LimitEnd } from '../../parts/limit-ends.ts';
import { amountOf, placeOf, ruleOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { Plate } from '../../ui/plate.tsx';
import { useNow } from '../../ui/use-now.ts';
import { LeadSection } from './lead-section.tsx';
import { LimitFigure } from './limit-figure.tsx';

const words = text.home.lead;
const MORE_SHOWN = 3;
const TICK_MS = 1_000;

interface LimitSectionProps {
  /** The first to run out first. */
  readonly ends: readonly LimitEnd[];
  /** For when none runs out: the tightest first. */
  readonly lasting: readonly NamedLimit[];
  /** Whether these are of all limits of the organization. */
  readonly isWhole: boolean;
}

/** The limit that runs out next, with the time until then; otherwise the tightest ones. */
export function LimitSection({ ends, lasting, isWhole }: LimitSectionProps) {
  const nowMs = useNow(TICK_MS);
  const [first, ...rest] = ends;
  const others = lasting.map((usage) => ({ usage, atMs: null }));
  const rows = first === undefined ? others : rest;
  return (
    <LeadSection
      title={words.limit}
      tone={first === undefined ? 'none' : first.atMs <= nowMs ? 'bad' : 'warn'}
      action={
        <Link to="/limits" className="link">
          {words.viewLimits}
        </Link>
      }
    >
      {first === undefined ? (
        isWhole ? (
          <p className="mb-2 text-[15px] leading-[34px]">{words.noLimit}</p>
        ) : null
      ) : (
        <First end={first} nowMs={nowMs} />
      )}
      <ul>
        {rows.slice(0, MORE_SHOWN).map(({ usage, atMs }) => (
          <li
            key={usage.policy_id}
            className="grid h-[30px] grid-cols-[minmax(0,1fr)_52px_92px] items-center gap-2 border-t"
          >
            <LimitLink usage={usage}>{wordsOf(usage)}</LimitLink>
            <FillBar usage={usage} />
            <span className="truncate text-right text-xs text-ink-soft">
              {atMs === null
                ? words.left(amountOf(usage.metric, usage.remaining))
                : atMs <= nowMs
                  ? words.now
                  : words.inSpan(formatSpan(atMs - nowMs))}
            </span>
          </li>
        ))}
      </ul>
    </LeadSection>
  );
}

function First({ end: { usage, atMs }, nowMs }: { readonly end: LimitEnd; readonly nowMs: number }) {
  const isOver = atMs <= nowMs;
  return (
    <>
      <p className="flex min-h-[34px] flex-wrap items-center gap-x-2.5 gap-y-1 text-[15px] leading-5">
        {isOver ? (
          <span className="font-semibold text-bad">{words.rejectsNow}</span>
        ) : (
          <>
            <Plate size="big">{formatSpan(atMs - nowMs)}</Plate>
            {words.untilRejections}
          </>
        )}
      </p>
      <p className="mt-1 mb-2.5 text-xs text-ink-faint">
        <LimitLink usage={usage}>
          {words.usedOf(amountOf(usage.metric, usage.limit - usage.remaining), wordsOf(usage))}
        </LimitLink>
        {usage.forecast === null || isOver
          ? ''
          : ` · ${words.forecastAtReset(amountOf(usage.metric, usage.forecast))}`}
        {usage.resets_at === null || Date.parse(usage.resets_at) <= nowMs
          ? ''
          : ` · ${words.resetsIn(formatSpan(Date.parse(usage.resets_at) - nowMs))}`}
      </p>
      <LimitFigure usage={usage} nowMs={nowMs} />
    </>
  );
}

/** "$50.00 per day for key Support bot". */
function wordsOf(usage: NamedLimit): string {
  const place = { kind: usage.policy_kind, scope: usage.scope_type };
  return `${ruleOf(usage)} ${placeOf(place, usage.scope_name ?? '', usage.subject_name)}`;
}

function LimitLink({ usage, children }: { readonly usage: NamedLimit; readonly children: string }) {
  return (
    <Link to="/limits" search={{ open: usage.policy_id }} className="link truncate text-ink" title={children}>
      {children}
    </Link>
  );
}
