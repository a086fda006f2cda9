import { tables } from './schema.ts';
import { storableJson, storableText } from './storable.ts';

/** A column's value; objects and lists become `jsonb`. */
type Value = string | number | boolean | Date | object | null | undefined;

/** Makes the lines of rows in COPY's text format. */
export function copyTextOf<Row extends { readonly [Name in keyof Row]: Value }>(
  table: keyof typeof tables,
  columns: readonly (keyof Row & string)[],
): (rows: readonly Row[]) => string {
  const types: Readonly<Record<string, { readonly type: string }>> = tables[table];
  const writers = columns.map((column) => ({ column, isJson: types[column]?.type === 'jsonb' }));
  return (rows) => {
    let text = '';
    for (const row of rows) {
      let separator = '';
      for (const { column, isJson } of writers) {
        text += separator + written(row[column], isJson);
        separator = '\t';
      }
      text += '\n';
    }
    return text;
  };
}

function written(value: Value, isJson: boolean): string {
  if (value === null || value === undefined) return '\\N';
  if (isJson) return escaped(storableJson(value));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  // An unexpected value must not be read as several columns or rows.
  return escaped(value instanceof Date ? value.toISOString() : storableText(String(value)));
}

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? found) : text;
}
