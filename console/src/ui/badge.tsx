import type { ReactNode } from 'react';
import { classes } from './class-names.ts';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

const TONES: Record<Tone, string> = {
  neutral: 'bg-sunken text-ink-soft border-line',
  good: 'bg-good-wash text-good border-transparent',
  warn: 'bg-warn-wash text-warn border-transparent',
  bad: 'bg-bad-wash text-bad border-transparent',
  accent: 'bg-accent-wash text-accent-ink border-transparent',
};

/** A state as a word. The color only repeats it, for users who do not see colors. */
export function Badge({ tone = 'neutral', dot = false, children }: BadgeProps) {
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1.5 rounded-md border px-1.5 py-px align-middle text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {dot ? <span aria-hidden className="size-1.5 rounded-full bg-current" /> : null}
      {children}
    </span>
  );
}

interface BadgeProps {
  readonly tone?: Tone;
  readonly dot?: boolean;
  readonly children: ReactNode;
}
