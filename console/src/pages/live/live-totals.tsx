import type { Live } from '@relay/contract';
import { useEffect, useRef, useState } from 'react';
import { formatCount } from '../../format/numbers.ts';
import { formatClock } from '../../format/times.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Mark } from '../../ui/mark.tsx';
import { formatWait } from './format-wait.ts';

const words = text.live;
/** The interval of announcements to screen readers. */
const SAID_EVERY_MS = 15_000;

interface Totals {
  readonly waiting: number;
  readonly longestWaitMs: number;
  readonly inFlight: number;
  readonly fallbacks: number;
  readonly rejections: number;
  readonly unwell: number;
}

function totalsOf({ lanes, endpoints }: Live): Totals {
  const sum = (of: 'waiting' | 'in_flight' | 'fallbacks' | 'rejections') =>
    lanes.reduce((total, lane) => total + lane[of], 0);
  return {
    waiting: sum('waiting'),
    longestWaitMs: Math.max(0, ...lanes.map((lane) => lane.longest_wait_ms)),
    inFlight: sum('in_flight'),
    fallbacks: sum('fallbacks'),
    rejections: sum('rejections'),
    unwell: endpoints.filter(({ health }) => isUnwell(health)).length,
  };
}

/** On the wall screen, where the strip is not: the totals, to be read from afar. */
export function WallTotals({ live }: { readonly live: Live | undefined }) {
  if (live === undefined) return null;
  const { waiting, inFlight, longestWaitMs, fallbacks, rejections, unwell } = totalsOf(live);
  return (
    <div className="flex min-w-0 flex-1 items-end gap-x-9">
      <span className="self-center [&_svg]:size-[30px]">
        <Mark />
      </span>
      <dl className="flex min-w-0 flex-1 flex-wrap items-end gap-x-9 gap-y-2" aria-label={words.totals.title}>
        <WallTotal name={words.totals.inFlight} value={formatCount(inFlight)} />
        <WallTotal name={words.totals.waiting} value={formatCount(waiting)} isWait={waiting > 0} />
        <WallTotal name={words.totals.longest} value={formatWait(longestWaitMs)} isWait={waiting > 0} />
        <WallTotal name={words.totals.fallbacks} value={formatCount(fallbacks)} />
        <WallTotal name={words.totals.rejections} value={formatCount(rejections)} />
        <WallTotal name={words.totals.unwell} value={formatCount(unwell)} />
        <div className="ml-auto font-mono text-[34px] leading-[44px]">
          <dt className="sr-only">{words.totals.time}</dt>
          <dd>
            {formatClock(live.at)} <span className="text-[15px]">UTC</span>
          </dd>
        </div>
      </dl>
    </div>
  );
}

function WallTotal({ name, value, isWait = false }: WallTotalProps) {
  return (
    <div className="flex flex-col-reverse">
      <dt className="text-xs text-ink-faint">{name}</dt>
      <dd
        className={classes(
          'text-[40px] leading-[44px] font-semibold tracking-[-0.02em] [font-stretch:90%]',
          isWait && 'text-signal',
        )}
      >
        {value}
      </dd>
    </div>
  );
}

interface WallTotalProps {
  readonly name: string;
  readonly value: string;
  readonly isWait?: boolean;
}

/** Announces the totals to screen readers after changes, not every second. */
export function SaidNowAndThen({ live }: { readonly live: Live | undefined }) {
  const totals = live === undefined ? null : totalsOf(live);
  const sentence =
    totals === null
      ? ''
      : words.said(formatCount(totals.waiting), formatCount(totals.inFlight), totals.unwell);
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
