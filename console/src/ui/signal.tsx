import type { ReactNode } from 'react';
import type { Tone } from './badge.tsx';
import { classes } from './class-names.ts';

/** The places of the lights: their angle carries the state, and the color repeats it. */
const LIGHTS: Record<Tone, readonly (readonly [number, number])[]> = {
  good: [
    [8, 3.9],
    [8, 8],
    [8, 12.1],
  ],
  warn: [
    [5.1, 10.9],
    [8, 8],
    [10.9, 5.1],
  ],
  bad: [
    [3.9, 8],
    [8, 8],
    [12.1, 8],
  ],
  wait: [
    [8, 3.9],
    [8, 8],
    [8, 12.1],
  ],
  neutral: [[8, 8]],
  note: [[8, 8]],
};

const COLORS: Record<Tone, string> = {
  good: 'text-good [--disc:var(--good-wash)]',
  warn: 'text-warn [--disc:var(--warn-wash)]',
  bad: 'text-bad [--disc:var(--bad-wash)]',
  wait: 'text-wait-ink [--disc:var(--wait-wash)]',
  neutral: 'text-off [--disc:var(--off-wash)]',
  note: 'text-off [--disc:var(--off-wash)]',
};

/** The three lights without a word; only beside the word that they repeat. */
export function Lights({ tone, className }: { readonly tone: Tone; readonly className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={classes('size-4 shrink-0', COLORS[tone], className)}
    >
      <circle cx="8" cy="8" r="8" fill="var(--disc)" />
      {LIGHTS[tone].map(([x, y]) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r="1.6" fill="currentColor" />
      ))}
    </svg>
  );
}

const WORDS: Record<Tone, string> = {
  good: 'text-ink',
  warn: 'text-warn',
  bad: 'text-bad',
  wait: 'text-wait-ink',
  neutral: 'text-ink-soft',
  note: 'text-ink-soft',
};

/** A state: vertical lights are healthy, diagonal ones need attention, horizontal ones mean that it stands still. */
export function Signal({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 align-middle whitespace-nowrap">
      <Lights tone={tone} />
      <span className={classes('truncate', WORDS[tone])}>{children}</span>
    </span>
  );
}
