import type { ReactNode } from 'react';
import { classes } from '../../ui/class-names.ts';

export type LeadTone = 'none' | 'good' | 'warn' | 'bad';

const RULES: Record<LeadTone, string> = {
  none: 'border-rule',
  good: 'border-good',
  warn: 'border-warn',
  bad: 'border-bad',
};

interface LeadSectionProps {
  readonly title: string;
  readonly tone: LeadTone;
  /** A link at its right. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** A section at the top of Home; its rule has the color of what it says. */
export function LeadSection({ title, tone, action, children }: LeadSectionProps) {
  return (
    <section className={classes('min-w-0 border-t-2 pt-2', RULES[tone])}>
      <header className="mb-2 flex min-h-5 items-baseline justify-between gap-3">
        <h2 className="font-semibold">{title}</h2>
        <span className="text-xs text-ink-faint">{action}</span>
      </header>
      {children}
    </section>
  );
}

/** The one figure of a section, with its words. */
export function BigFigure({ value, look, children }: BigFigureProps) {
  return (
    <p className="flex min-h-[34px] flex-wrap items-baseline gap-x-2">
      <span
        className={classes(
          'text-[30px] leading-[34px] font-semibold tracking-[-0.02em] [font-stretch:92%]',
          look,
        )}
      >
        {value}
      </span>
      <span className="text-[15px] leading-5">{children}</span>
    </p>
  );
}

interface BigFigureProps {
  readonly value: string;
  readonly look?: string;
  readonly children: ReactNode;
}
