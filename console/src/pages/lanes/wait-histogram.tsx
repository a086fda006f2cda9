import { formatCount, formatDuration } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Plate } from '../../ui/plate.tsx';
import { placeOf, STOPS_MS, type WaitBar } from './wait-counts.ts';

const words = text.lanes.editor;
/** Every so many stops the axis has a label. */
const LABEL_EVERY = 5;
const WITHIN = 'border-wait-edge bg-wait';
const BEYOND = 'border-bad bg-[repeating-linear-gradient(115deg,var(--bad)_0_1.5px,transparent_1.5px_4px)]';

const percent = (share: number) => `${share * 100}%`;

interface WaitHistogramProps {
  readonly bars: readonly WaitBar[];
  readonly budgetMs: number;
  readonly savedMs: number;
}

/** Actual waits over the slider's scale: those within the budget are yellow, longer ones hatched. The text below says the same. */
export function WaitHistogram({ bars, budgetMs, savedMs }: WaitHistogramProps) {
  const most = Math.max(0, ...bars.map(({ requests }) => requests));
  return (
    <div aria-hidden className="relative h-44 border-b-2 border-line-strong">
      <div className="absolute inset-x-0 top-14 bottom-0">
        {most === 0 ? null : (
          <span className="absolute inset-x-0 -top-4 border-b text-right text-[11px] leading-4 text-ink-faint">
            {words.tallest(Math.round(most))}
          </span>
        )}
        {bars.map((bar) => (
          <Bar key={bar.upToMs} bar={bar} most={most} budgetMs={budgetMs} />
        ))}
      </div>
      {savedMs === budgetMs ? null : <SavedMark savedMs={savedMs} isLeft={savedMs < budgetMs} />}
      <Knob budgetMs={budgetMs} />
    </div>
  );
}

/** A bar that the budget is in is cut there. */
function Bar({ bar, most, budgetMs }: BarProps) {
  const [from, upTo] = [placeOf(bar.fromMs), placeOf(bar.upToMs)];
  const cut = Math.min(upTo, Math.max(from, placeOf(budgetMs)));
  const parts = [
    { left: from, right: cut, look: WITHIN },
    { left: cut, right: upTo, look: BEYOND },
  ].filter(({ left, right }) => right > left);
  return parts.map(({ left, right, look }) => (
    <div
      key={look}
      title={words.bar(formatDuration(bar.fromMs), formatDuration(bar.upToMs), Math.round(bar.requests))}
      // A gap on each side, since in the dark theme bars have no edge.
      className={classes('absolute bottom-0 mx-px min-h-1 border', look)}
      style={{
        left: percent(left),
        right: percent(1 - right),
        height: percent(bar.requests / most),
      }}
    />
  ));
}

interface BarProps {
  readonly bar: WaitBar;
  readonly most: number;
  readonly budgetMs: number;
}

/** The line of the slider's thumb, with its plate, which stays within the chart. */
function Knob({ budgetMs }: { readonly budgetMs: number }) {
  const place = percent(placeOf(budgetMs));
  return (
    <>
      <div className="absolute inset-y-0 -ml-px w-0.5 bg-ink" style={{ left: place }} />
      <div className="absolute top-0" style={{ left: place, transform: `translateX(-${place})` }}>
        <Plate size="big">{formatDuration(budgetMs)}</Plate>
      </div>
    </>
  );
}

function SavedMark({ savedMs, isLeft }: { readonly savedMs: number; readonly isLeft: boolean }) {
  const place = placeOf(savedMs);
  return (
    <div
      className="absolute top-12 bottom-0 w-0 border-l-2 border-dashed border-ink-soft"
      style={{ left: percent(place) }}
    >
      <span
        className={classes(
          'absolute top-1 bg-canvas px-1 text-[11px] leading-4 whitespace-nowrap text-ink-soft',
          isLeft ? 'right-1' : 'left-1',
        )}
      >
        {words.savedMark(formatDuration(savedMs))}
      </span>
    </div>
  );
}

/** Labels below the slider, at the places of their waits. */
export function WaitAxis() {
  return (
    <div aria-hidden className="relative h-4 text-[11px] leading-4 text-ink-faint">
      {STOPS_MS.filter((_, stop) => stop % LABEL_EVERY === 0).map((ms) => {
        const place = percent(placeOf(ms));
        return (
          <span
            key={ms}
            className="absolute whitespace-nowrap"
            style={{ left: place, transform: `translateX(-${place})` }}
          >
            {formatDuration(ms)}
          </span>
        );
      })}
    </div>
  );
}

/** The numbers of the histogram, which are its legend too. */
export function WaitLegend({ immediate, within, beyond, budgetMs }: WaitLegendProps) {
  const rows = [
    { label: words.legend.immediate, count: immediate, look: 'border-line-strong bg-served' },
    { label: words.legend.within(formatDuration(budgetMs)), count: within, look: WITHIN },
    { label: words.legend.beyond, count: beyond, look: BEYOND },
  ];
  return (
    <dl className="mb-2 flex flex-wrap gap-x-6 gap-y-1 text-xs">
      {rows.map(({ label, count, look }) => (
        <div key={label} className="flex items-center gap-1.5">
          <dt className="order-2 text-ink-faint">{label}</dt>
          <dd className="flex items-center gap-1.5 font-semibold">
            <span aria-hidden className={classes('size-2.5 border', look)} />
            {formatCount(count)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface WaitLegendProps {
  readonly immediate: number;
  readonly within: number;
  readonly beyond: number;
  readonly budgetMs: number;
}
