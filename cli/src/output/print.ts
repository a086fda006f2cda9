import { durationWords } from '@relay/contract/words';
import type { Surroundings } from '../kit/surroundings.ts';
import type { Cell } from './cells.ts';
import { toCsv } from './csv.ts';
import { type Format, formatOf, type OutputOptions } from './options.ts';
import { type Column, renderFields, renderTable, type TableStyle } from './table.ts';

export interface ListShape<T> {
  readonly columns: readonly Column<T>[];
  /** Printed on standard error for an empty table. */
  readonly empty: string;
}

export async function printList<T extends object>(
  surroundings: Surroundings,
  options: OutputOptions,
  rows: readonly T[],
  { columns, empty }: ListShape<T>,
): Promise<void> {
  const format = formatOf(surroundings, options);
  if (format !== 'table') return write(surroundings, await machineText(format, rows));
  if (rows.length === 0) surroundings.stderr.write(`${empty}\n`);
  else write(surroundings, renderTable(rows, columns, tableStyle(surroundings)));
}

export async function printObject<T extends object>(
  surroundings: Surroundings,
  options: OutputOptions,
  object: T,
  fields: (object: T) => readonly (readonly [name: string, value: Cell])[] = plainFields,
): Promise<void> {
  const format = formatOf(surroundings, options);
  if (format !== 'table') {
    const text = format === 'json' || format === 'yaml' ? object : [object];
    return write(surroundings, await machineText(format, text));
  }
  write(surroundings, renderFields(fields(object), tableStyle(surroundings)));
}

export function tableStyle({ stdout }: Pick<Surroundings, 'stdout'>): TableStyle {
  return { columns: stdout.isTTY ? stdout.columns : undefined, stream: stdout };
}

export async function machineText(
  format: Exclude<Format, 'table'>,
  value: object | readonly object[],
): Promise<string> {
  const rows: readonly object[] = Array.isArray(value) ? value : [value];
  switch (format) {
    case 'json':
      return `${JSON.stringify(value, null, 2)}\n`;
    case 'ndjson':
      return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    case 'csv':
      return toCsv(rows);
    case 'yaml': {
      const { stringify } = await import('yaml');
      return stringify(value);
    }
  }
}

/** Every field by its API name; nested values as JSON, and long times also in words. */
export function plainFields(object: object): [string, Cell][] {
  return Object.entries(object).map(([name, value]) => {
    if (typeof value === 'object' && value !== null) return [name, JSON.stringify(value)];
    if (name.endsWith('_ms') && typeof value === 'number' && value >= 1_000)
      return [name, `${value} (${durationWords(value)})`];
    return [name, value];
  });
}

function write({ stdout }: Pick<Surroundings, 'stdout'>, text: string): void {
  stdout.write(text);
}
