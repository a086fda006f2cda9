/** Characters that start a formula in a spreadsheet. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

export type CsvValue = string | number | boolean | null;

/** One record of CSV (RFC 4180) with its line end. A spreadsheet does not run text from users as a formula; numbers stay numbers. */
export function csvRecord(values: readonly CsvValue[]): string {
  return `${values.map(fieldOf).join(',')}\r\n`;
}

function fieldOf(value: CsvValue): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
