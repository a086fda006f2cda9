import type { Live } from '@relay/contract';
import { useEffect, useRef, useState } from 'react';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Skeleton } from '../../ui/states.tsx';
import { formatWait } from './format-wait.ts';

const words = text.live;
/** The interval of announcements to screen readers. */
const SAID_EVERY_MS = 15_000;

/** Waiting, in flight and not healthy, over all lanes. */
export function LiveTotals({ live }: { readonly live: Live | undefined }) {
  const totals = live === undefined ? null : totalsOf(live);
  const tiles = totals === null ? SKELETONS : tilesOf(totals);
  return (
    <section aria-label={words.totals.title}>
      <dl className="grid grid-cols-3 divide-x rounded-xl border bg-panel">
        {tiles.map(({ name, value, note, tone }) => (
          <div key={name} className="min-w-0 px-4 py-3">
            <dt className="truncate text-xs text-ink-faint">{name}</dt>
            <dd className="min-h-[42px]">
              {value === null ? (
                <Skeleton className="mt-2 w-16" />
              ) : (
                <>
                  <span className={classes('block text-xl leading-6 font-semibold tabular-nums', tone)}>
                    {value}
                  </span>
                  <span className="block truncate text-xs text-ink-faint tabular-nums">{note}</span>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <SaidNowAndThen totals={totals} />
    </section>
  );
}

interface Totals {
  readonly waiting: number;
  readonly longestWaitMs: number;
  readonly inFlight: number;
  readonly busyEndpoints: number;
  readonly unwell: Readonly<Record<Unwell, number>>;
}

type Unwell = keyof typeof words.totals.unwellOf;
/** Worst first. */
const UNWELL: readonly Unwell[] = ['down', 'degraded', 'rate_limited'];

function totalsOf({ lanes, endpoints }: Live): Totals {
  const sum = (of: 'waiting' | 'in_flight') => lanes.reduce((total, lane) => total + lane[of], 0);
  const count = (state: Unwell) => endpoints.filter(({ health }) => health === state).length;
  return {
    waiting: sum('waiting'),
    longestWaitMs: Math.max(0, ...lanes.map((lane) => lane.longest_wait_ms)),
    inFlight: sum('in_flight'),
    busyEndpoints: endpoints.filter((endpoint) => endpoint.in_flight > 0).length,
    unwell: { down: count('down'), degraded: count('degraded'), rate_limited: count('rate_limited') },
  };
}

function unwellCount({ unwell }: Totals): number {
  return UNWELL.reduce((sum, state) => sum + unwell[state], 0);
}

/** "1 down, 2 rate-limited". */
function unwellNote({ unwell }: Totals): string {
  return UNWELL.filter((state) => unwell[state] > 0)
    .map((state) => words.totals.unwellOf[state](formatCount(unwell[state])))
    .join(', ');
}

interface Tile {
  readonly name: string;
  readonly value: string | null;
  readonly note: string;
  readonly tone: string;
}

const NAMES = [words.totals.waiting, words.totals.inFlight, words.totals.unwell];
const SKELETONS: readonly Tile[] = NAMES.map((name) => ({ name, value: null, note: '', tone: '' }));

function tilesOf(totals: Totals): readonly Tile[] {
  return [
    {
      name: words.totals.waiting,
      value: formatCount(totals.waiting),
      note:
        totals.waiting === 0
          ? words.totals.nobodyWaits
          : words.totals.longest(formatWait(totals.longestWaitMs)),
      tone: totals.waiting > 0 ? 'text-warn' : '',
    },
    {
      name: words.totals.inFlight,
      value: formatCount(totals.inFlight),
      note: words.totals.atEndpoints(totals.busyEndpoints),
      tone: totals.inFlight > 0 ? 'text-ink' : '',
    },
    {
      name: words.totals.unwell,
      value: formatCount(unwellCount(totals)),
      note: unwellNote(totals) || words.totals.noneUnwell,
      tone: totals.unwell.down > 0 ? 'text-bad' : unwellCount(totals) > 0 ? 'text-warn' : '',
    },
  ];
}

/** Announces the three numbers to screen readers after changes, not every second. */
function SaidNowAndThen({ totals }: { readonly totals: Totals | null }) {
  const sentence =
    totals === null
      ? ''
      : words.said(
          formatCount(totals.waiting),
          formatCount(totals.inFlight),
          formatCount(unwellCount(totals)),
        );
  const [said, setSaid] = useState('');
  const saidMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (sentence === said) return;
    const dueMs = Math.max(0, saidMs.current + SAID_EVERY_MS - performance.now());
    const timer = setTimeout(() => {
      saidMs.current = performance.now();
      setSaid(sentence);
    }, dueMs);
    return () => clearTimeout(timer);
  }, [sentence, said]);
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}
