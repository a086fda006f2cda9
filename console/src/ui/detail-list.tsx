import type { ReactNode } from 'react';
import { classes } from './class-names.ts';

/** Names and values in two columns. */
export function DetailList({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] gap-x-4 gap-y-2.5 text-[13px]">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A few large values with their names, side by side. */
export function Figures({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes('grid gap-4', of.length > 3 ? 'grid-cols-2 sm:grid-cols-4' : 'grid-cols-3')}>
      {of.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-ink-faint">{name}</dt>
          <dd className="truncate text-lg font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A section of a panel with a heading. */
export function Section({ title, actions, children }: SectionProps) {
  return (
    <section className="border-b py-5 first:pt-1 last:border-b-0">
      <div className="mb-3 flex min-h-8 items-center justify-between gap-3">
        <h3 className="font-semibold">{title}</h3>
        {actions}
      </div>
      {children}
    </section>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}
