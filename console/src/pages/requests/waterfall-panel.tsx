import type { RequestDetail } from '@relay/contract';
import { formatDuration } from '../../format/numbers.ts';
import { isUnchanged, passageWords } from '../../parts/passage-words.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { nameIn, type RequestNames } from './use-request-names.ts';
import { lengthMs, type Step, stepsOf, ticksOf } from './waterfall.ts';

const words = text.requests.detail.waterfall;
const verdictWords = text.requests.detail.guardrails.verdicts;

interface WaterfallPanelProps {
  readonly detail: RequestDetail;
  readonly names: RequestNames;
  readonly guardrailNames: ReadonlyMap<string, string> | undefined;
}

/** The phases of a request over time. A list with bars, so that screen readers get the same content. */
export function WaterfallPanel({ detail, names, guardrailNames }: WaterfallPanelProps) {
  const steps = stepsOf(detail);
  const totalMs = lengthMs(detail, steps);
  const firstMs = detail.timings.first_content_ms;
  return (
    <Panel
      title={words.title}
      actions={
        <span className="text-xs text-ink-faint tabular-nums">{words.total(formatDuration(totalMs))}</span>
      }
    >
      <div className="px-4 pt-2 pb-4">
        <Axis totalMs={totalMs} />
        <ol>
          {steps.map((step, index) => (
            <StepLine
              // biome-ignore lint/suspicious/noArrayIndexKey: a request that is over never changes
              key={index}
              step={step}
              totalMs={totalMs}
              passage={passageOf(step, detail)}
              lines={linesOf(step, names, guardrailNames)}
            />
          ))}
        </ol>
        {detail.attempts.length === 0 ? (
          <p className="mt-2 text-[13px] text-ink-soft">{words.nothing}</p>
        ) : firstMs === null ? null : (
          <p className="mt-2 text-xs text-ink-faint">{words.firstContent(formatDuration(firstMs))}</p>
        )}
      </div>
    </Panel>
  );
}

const GRID =
  'grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 sm:grid-cols-[15rem_minmax(0,1fr)_5rem] sm:items-center';

function Axis({ totalMs }: { readonly totalMs: number }) {
  return (
    <div aria-hidden className={classes(GRID, 'mb-1 text-[11px] text-ink-faint tabular-nums')}>
      <div className="relative col-span-2 h-5 sm:col-span-1 sm:col-start-2">
        {ticksOf(totalMs).map((ms) => (
          <span
            key={ms}
            className="absolute top-0 whitespace-nowrap first:translate-x-0 not-first:-translate-x-1/2"
            style={{ left: `${(ms / totalMs) * 100}%` }}
          >
            {formatDuration(ms)}
          </span>
        ))}
      </div>
    </div>
  );
}

interface StepLineProps {
  readonly step: Step;
  readonly totalMs: number;
  /** How the attempt's request reached the provider; null where nothing was changed. */
  readonly passage: string | null;
  readonly lines: { readonly name: string; readonly note: string | null };
}

function StepLine({ step, totalMs, passage, lines: { name, note } }: StepLineProps) {
  const { startMs, tookMs } = step;
  const providerSaid = step.kind === 'attempt' ? step.attempt.upstream_message : null;
  return (
    <li className={classes(GRID, 'border-t py-1.5')}>
      <div className="min-w-0">
        <p className="truncate font-medium" title={name}>
          {name}
        </p>
        {note === null ? null : (
          <p className={classes('truncate text-xs', NOTE_LOOKS[toneOf(step)])} title={note}>
            {note}
          </p>
        )}
      </div>
      <div
        aria-hidden
        className="relative order-last col-span-2 mt-1.5 h-4 border-l border-line bg-[linear-gradient(90deg,transparent_calc(100%-1px),var(--line)_0)] bg-[length:25%_100%] sm:order-none sm:col-span-1 sm:mt-0"
      >
        <div
          className={classes('absolute inset-y-0 min-w-[3px] rounded-[1px]', BAR_LOOKS[toneOf(step)])}
          style={{
            left: `min(${(startMs / totalMs) * 100}%, calc(100% - 3px))`,
            width: `${(tookMs / totalMs) * 100}%`,
          }}
        />
      </div>
      <p className="text-right text-xs text-ink-soft tabular-nums">
        <span className="sr-only">{words.starts(formatDuration(startMs), formatDuration(tookMs))}</span>
        <span aria-hidden>{formatDuration(tookMs)}</span>
      </p>
      {passage === null ? null : (
        <p className="order-last col-span-full mt-1 text-xs break-words text-ink-soft">{passage}</p>
      )}
      {providerSaid === null ? null : (
        <p className="order-last col-span-full mt-1 text-xs break-words text-ink-soft">
          {words.providerSaid(providerSaid)}
        </p>
      )}
    </li>
  );
}

function passageOf(step: Step, { operation }: RequestDetail): string | null {
  if (step.kind !== 'attempt' || isUnchanged(step.attempt)) return null;
  return passageWords(operation, step.attempt);
}

type StepTone = 'quiet' | 'wait' | 'guard' | 'good' | 'bad' | 'warn';

const BAR_LOOKS: Record<StepTone, string> = {
  quiet: 'bg-ink-faint',
  wait: 'bg-wait shadow-[inset_0_0_0_1px_var(--wait-edge)]',
  guard: 'bg-[var(--series-3)]',
  good: 'bg-served',
  // Hatched, so that users recognize a failed attempt without its color.
  bad: 'bg-[repeating-linear-gradient(115deg,var(--chart-bad)_0_4px,transparent_4px_7px)] shadow-[inset_0_0_0_1px_var(--chart-bad)]',
  warn: 'bg-warn',
};

const NOTE_LOOKS: Record<StepTone, string> = {
  quiet: 'text-ink-faint',
  wait: 'text-ink-faint',
  guard: 'text-ink-soft',
  good: 'text-ink-faint',
  bad: 'text-bad',
  warn: 'text-warn',
};

const OUTCOME_TONES = { succeeded: 'good', failed: 'bad', cancelled: 'warn' } as const;

function toneOf(step: Step): StepTone {
  if (step.kind === 'attempt') return OUTCOME_TONES[step.attempt.outcome];
  if (step.kind === 'guard')
    return step.verdict.verdict === 'blocked' || step.verdict.verdict === 'unavailable' ? 'bad' : 'guard';
  return step.kind === 'wait' ? 'wait' : 'quiet';
}

function linesOf(
  step: Step,
  names: RequestNames,
  guardrailNames: WaterfallPanelProps['guardrailNames'],
): StepLineProps['lines'] {
  if (step.kind === 'attempt') {
    const { attempt, endpoint_id: id, outcome, upstream_status: status, error_code: code } = step.attempt;
    const said = status === null ? words.outcomes[outcome] : words.answered(status);
    return {
      name: words.attempt(attempt, nameIn(names.endpoint, id)),
      note: [said, code].filter((part) => part !== null).join(' · '),
    };
  }
  if (step.kind === 'guard') {
    const { guardrail_id: id, stage, verdict } = step.verdict;
    const when = stage === 'pre_dispatch' ? words.guardBefore : words.guardAfter;
    return {
      name: `${words.steps.guard}: ${nameIn(guardrailNames, id)}`,
      note: `${verdictWords[verdict]}, ${when}`,
    };
  }
  return { name: words.steps[step.kind], note: null };
}
