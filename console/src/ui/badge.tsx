import type { ReactNode } from 'react';
import { classes } from './class-names.ts';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'wait' | 'note';

const TONES: Record<Tone, string> = {
  neutral: 'text-ink-soft border-line',
  good: 'text-good border-line',
  warn: 'bg-warn-wash text-warn border-transparent',
  bad: 'bg-bad-wash text-bad border-transparent',
  wait: 'bg-wait-wash text-wait-ink border-wait-edge',
  note: 'text-ink border-line-strong',
};

/** A property as a word. A state is a `Signal`. */
export function Badge({ tone = 'neutral', children }: BadgeProps) {
  return (
    <span
      className={classes(
        'inline-flex h-5 items-center rounded-[3px] border px-1.5 align-middle text-xs whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

interface BadgeProps {
  readonly tone?: Tone;
  readonly children: ReactNode;
}
