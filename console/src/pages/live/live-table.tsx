import type { ReactNode } from 'react';
import { classes } from '../../ui/class-names.ts';
import { cells } from './columns.ts';

interface LiveTableProps {
  readonly title: string;
  /** With the classes of each. */
  readonly heads: readonly (readonly [head: ReactNode, className?: string])[];
  /** Its rows. */
  readonly children: ReactNode;
}

/** A table below the board. */
export function LiveTable({ title, heads, children }: LiveTableProps) {
  return (
    <table className="w-full border-collapse text-left">
      <caption className="sr-only">{title}</caption>
      <thead>
        <tr className="border-b border-line-strong text-xs text-ink-faint [font-stretch:95%]">
          {heads.map(([head, className], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
            <th key={index} scope="col" className={classes(cells.head, className)}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
