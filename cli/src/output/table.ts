import { styleText } from 'node:util';
import { type Cell, cellText, shorten, widthOf } from './cells.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'quiet';

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => Cell;
  readonly align?: 'right';
  /** May be shortened on a narrow terminal; IDs and numbers never are. */
  readonly elastic?: boolean;
  readonly tone?: (row: T) => Tone | null;
}

export interface TableStyle {
  /** The terminal's width; undefined without a limit. */
  readonly columns: number | undefined;
  readonly stream: NodeJS.WriteStream;
}

const GAP = '  ';
const ELASTIC_WIDTH_MIN = 8;

export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], style: TableStyle): string {
  const texts = rows.map((row) => columns.map((column) => cellText(column.value(row))));
  const widths = fit(columns, texts, style.columns);
  const line = (cells: readonly string[], paint: (text: string, index: number) => string) =>
    cells
      .map((cell, index) => {
        const text = shorten(cell, widths[index] ?? 0);
        const padding = ' '.repeat((widths[index] ?? 0) - widthOf(text));
        const isLast = index === cells.length - 1;
        if (columns[index]?.align === 'right') return padding + paint(text, index);
        return paint(text, index) + (isLast ? '' : padding);
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    columns.map(({ title }) => title.toUpperCase()),
    (text) => styleText('dim', text, { stream: style.stream }),
  );
  const body = rows.map((row, at) =>
    line(texts[at] ?? [], (text, index) =>
      paintTone(text, columns[index]?.tone?.(row) ?? null, style.stream),
    ),
  );
  return [head, ...body].map((text) => `${text}\n`).join('');
}

/** Fields in rows, for one object. */
export function renderFields(
  fields: readonly (readonly [name: string, value: Cell])[],
  { stream }: TableStyle,
): string {
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields
    .map(([name, value]) => {
      const label = styleText('dim', name.padEnd(width), { stream });
      return `${label}${GAP}${cellText(value)}\n`;
    })
    .join('');
}

export function paintTone(text: string, tone: Tone | null, stream: NodeJS.WriteStream): string {
  if (tone === null) return text;
  const color = { good: 'green', bad: 'red', warn: 'yellow', quiet: 'dim' } as const;
  return styleText(color[tone], text, { stream });
}

/** The width of every column. Shrinks elastic columns, the widest first, until the row fits. */
function fit<T>(
  columns: readonly Column<T>[],
  texts: readonly (readonly string[])[],
  room: number | undefined,
): number[] {
  const widths = columns.map(({ title }, index) =>
    texts.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), widthOf(title)),
  );
  if (room === undefined) return widths;
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
  let excess = total() - room;
  while (excess > 0) {
    const widest = columns.reduce(
      (best, { elastic }, index) =>
        elastic && (widths[index] ?? 0) > ELASTIC_WIDTH_MIN && (widths[index] ?? 0) > (widths[best] ?? 0)
          ? index
          : best,
      -1,
    );
    if (widest === -1) return widths;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}
