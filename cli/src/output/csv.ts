import { type CsvValue, csvRecord } from '@relay/contract/client';

/** CSV with the fields of the first row first. Nested values are JSON. */
export function toCsv(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const records = rows.map((row) => {
    const values = new Map<string, unknown>(Object.entries(row));
    return names.map((name) => csvValue(values.get(name)));
  });
  return [names, ...records].map(csvRecord).join('');
}

function csvValue(value: unknown): CsvValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
