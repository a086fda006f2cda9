/** Characters that start a formula in a spreadsheet. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** Rows as CSV (RFC 4180). Prevents formula injection through text from users. */
export function csvText(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
