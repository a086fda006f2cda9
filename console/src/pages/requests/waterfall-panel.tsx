import type { BoundPolicy, RequestDetail } from '@relay/contract';
import { formatCount, formatDuration, formatMoney } from '../../format/numbers.ts';
import { boundLimitOf } from '../../parts/limit-metrics.ts';
import { isUnchanged, passageWords } from '../../parts/passage-words.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { nameIn, type RequestNames } from './use-request-names.ts';
import {
  lengthMs,
  type Step,
  type StreamedPart,
  stepsOf,
  streamedPartOf,
  textPlaceOf,
  ticksOf,
} from './waterfall.ts';

const words = text.requests.detail.waterfall;
const costWords = text.requests.detail.cost;
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
  // Relay records the last limit that made the request wait.
  const boundWait = steps.findLastIndex(({ kind }) => kind === 'wait');
  return (
    <Panel
      title={words.title}
      actions={
        <span className="text-xs text-ink-faint tabular-nums">
          {firstMs === null
            ? words.latency(formatDuration(detail.duration_ms))
            : words.latencyAndFirst(formatDuration(detail.duration_ms), formatDuration(firstMs))}
        </span>
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
              stream={streamedPartOf(step, detail)}
              limitedBy={index === boundWait && detail.bound_policy !== null ? detail.bound_policy : null}
            />
          ))}
        </ol>
        {detail.attempts.length === 0 ? (
          <p className="mt-2 text-[13px] text-ink-soft">{words.nothing}</p>
        ) : null}
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
  readonly stream: StreamedPart | null;
  /** The limit that the wait was for. */
  readonly limitedBy: BoundPolicy | null;
}

function StepLine({ step, totalMs, passage, lines: { name, note }, stream, limitedBy }: StepLineProps) {
  const { startMs, tookMs } = step;
  const providerSaid = step.kind === 'attempt' ? step.attempt.upstream_message : null;
  const use = step.kind === 'attempt' ? usedWords(step.attempt) : null;
  const caption = captionOf(stream, limitedBy);
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
        {/* In wide windows, the chart shows the same beside the bar. */}
        {caption === null ? null : <p className="text-xs text-ink-faint sm:sr-only">{caption}</p>}
      </div>
      <div
        aria-hidden
        className="relative order-last col-span-2 mt-1.5 h-4 border-l border-line bg-[linear-gradient(90deg,transparent_calc(100%-1px),var(--line)_0)] sm:order-none sm:col-span-1 sm:-my-1.5 sm:h-auto sm:self-stretch"
        style={{ backgroundSize: `${gridShareOf(totalMs) * 100}% 100%` }}
      >
        <Bar tone={toneOf(step)} startMs={startMs} tookMs={tookMs} totalMs={totalMs} stream={stream} />
        {caption === null || (stream !== null && isRoomy(stream, tookMs, totalMs)) ? null : (
          <Beside
            startShare={startMs / totalMs}
            endShare={(startMs + tookMs) / totalMs}
            inside={stream === null ? 'text-on-wait' : 'text-on-served'}
          >
            {caption}
          </Beside>
        )}
      </div>
      <p className="text-right text-xs text-ink-soft tabular-nums">
        <span className="sr-only">{words.starts(formatDuration(startMs), formatDuration(tookMs))}</span>
        <span aria-hidden>{formatDuration(tookMs)}</span>
      </p>
      {use === null ? null : (
        <p className="order-last col-span-full mt-1 text-xs break-words text-ink-soft tabular-nums">{use}</p>
      )}
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

/** In wide windows, the lines of the chart run through the rows. */
const MIDDLE = 'top-0 sm:top-1/2 sm:-translate-y-1/2';

interface BarProps {
  readonly tone: StepTone;
  readonly startMs: number;
  readonly tookMs: number;
  readonly totalMs: number;
  readonly stream: StreamedPart | null;
}

/** Of a stream, the part until its first token is lighter. */
function Bar({ tone, startMs, tookMs, totalMs, stream }: BarProps) {
  const place = {
    left: `min(${(startMs / totalMs) * 100}%, calc(100% - 3px))`,
    width: `${(tookMs / totalMs) * 100}%`,
  };
  const look = `absolute h-4 min-w-[3px] overflow-hidden rounded-[1px] ${MIDDLE}`;
  if (stream === null) return <div className={classes(look, BAR_LOOKS[tone])} style={place} />;
  const isNamed = isRoomy(stream, tookMs, totalMs);
  const text = 'hidden truncate px-1.5 text-[11px] leading-4 sm:block';
  return (
    <div className={classes(look, 'flex bg-served')} style={place}>
      <div
        className="shrink-0 bg-served-soft text-ink"
        style={{ width: `${(stream.firstMs / tookMs) * 100}%` }}
      >
        {isNamed ? <span className={text}>{words.firstToken(formatDuration(stream.firstMs))}</span> : null}
      </div>
      {isNamed ? (
        <span className={classes(text, 'font-medium text-on-served')}>{streamWords(stream)}</span>
      ) : null}
    </div>
  );
}

/** A text with room beside its bar; a bar over the whole chart has it inside. */
function Beside({ startShare, endShare, inside, children }: BesideProps) {
  const place = textPlaceOf(startShare, endShare);
  const style =
    place === 'after'
      ? { left: `${endShare * 100}%`, maxWidth: `${(1 - endShare) * 100}%` }
      : place === 'before'
        ? { right: `${(1 - startShare) * 100}%`, maxWidth: `${startShare * 100}%` }
        : { left: `${startShare * 100}%`, maxWidth: `${(endShare - startShare) * 100}%` };
  return (
    <span
      className={classes(
        'absolute hidden truncate px-2 text-[11px] leading-4 sm:block',
        MIDDLE,
        place === 'inside' ? `font-medium ${inside}` : 'bg-canvas text-ink-soft',
      )}
      style={style}
    >
      {children}
    </span>
  );
}

interface BesideProps {
  readonly startShare: number;
  readonly endShare: number;
  /** The color of the text on the bar. */
  readonly inside: string;
  readonly children: string;
}

/** Both parts of a stream need room for their text. */
const FIRST_SHARE_MIN = 0.14;
const REST_SHARE_MIN = 0.2;

function isRoomy({ firstMs }: StreamedPart, tookMs: number, totalMs: number): boolean {
  return firstMs / totalMs >= FIRST_SHARE_MIN && (tookMs - firstMs) / totalMs >= REST_SHARE_MIN;
}

function captionOf(stream: StreamedPart | null, limitedBy: BoundPolicy | null): string | null {
  if (limitedBy !== null) return words.limitedBy(boundLimitOf(limitedBy));
  if (stream === null) return null;
  const rest = streamWords(stream);
  const first = words.firstToken(formatDuration(stream.firstMs));
  return rest === null ? first : `${first}, ${rest}`;
}

function streamWords({ tokens, perSecond }: StreamedPart): string | null {
  if (tokens === null) return null;
  return perSecond === null
    ? words.tokens(tokens)
    : words.tokensPerSecond(tokens, formatCount(Math.round(perSecond)));
}

/** The lines of the chart are at its ticks. */
function gridShareOf(totalMs: number): number {
  const [, stepMs = totalMs] = ticksOf(totalMs);
  return stepMs / totalMs;
}

/** Tokens, source and cost of an attempt. */
function usedWords({ sent, usage_source: source, ...attempt }: RequestDetail['attempts'][number]): string {
  const { input_tokens: input, output_tokens: output, cost_micros: cost } = attempt;
  if (!sent) return words.use.notSent;
  if (source === 'none' || input === null || output === null) return words.use.none;
  return words.use.used(
    costWords.inputOutput(formatCount(input), formatCount(output)),
    cost === null ? text.unpriced.noPrice : formatMoney(cost),
    words.use.sources[source],
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
