import type { Surroundings } from '../kit/surroundings.ts';
import { fieldName, inWords } from '../kit/units.ts';
import { type Cell, timeText } from './cells.ts';
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

/** Every field that says something to people: amounts in words, times in UTC, nested values as JSON. */
export function plainFields(object: object): [string, Cell][] {
  const shown = Object.entries(object).filter(([field]) => field !== 'etag');
  return shown.map(([field, value]) => {
    const { name, unit } = fieldName(field);
    if (typeof value === 'number') return [name, inWords(value, unit)];
    if (typeof value === 'object' && value !== null) return [name, JSON.stringify(value)];
    if (typeof value === 'string' && TIMESTAMP.test(value)) return [name, timeText(value)];
    return [name, value];
  });
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function write({ stdout }: Pick<Surroundings, 'stdout'>, text: string): void {
  stdout.write(text);
}
