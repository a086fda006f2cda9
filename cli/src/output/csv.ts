/** RFC 4180, with the fields of the first row first. Nested values are JSON. */
export function toCsv(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => {
    const values = new Map<string, unknown>(Object.entries(row));
    return names.map((name) => csvCell(values.get(name))).join(',');
  });
  return [names.map(csvCell).join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
