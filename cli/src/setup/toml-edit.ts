/**
 * Sets a value of a TOML text, in a table or with null before the first one, and keeps all other lines, comments and
 * order. It does not know all of TOML: the caller parses the result and compares.
 */
export function setTomlValue(text: string, table: string | null, key: string, value: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const { start, end } = rangeOf(lines, table);
  if (start === -1) {
    const body = text.trimEnd() === '' ? [] : [...text.trimEnd().split(/\r?\n/), ''];
    return [...body, `[${table}]`, lineOf(key, value), ''].join(newline);
  }
  const known = lines.findIndex(
    (line, index) => index >= start && index < end && keyOf(line) === key && !isInString(lines, index),
  );
  if (known !== -1) return lines.with(known, replaced(lines[known] ?? '', key, value)).join(newline);
  // The first line of the file, or the last one of the table.
  const at = table === null ? 0 : lastFilled(lines, start, end) + 1;
  return lines.toSpliced(at, 0, lineOf(key, value)).join(newline);
}

function lineOf(key: string, value: string): string {
  return `${key} = ${JSON.stringify(value)}`;
}

/** Keeps the indentation and the comment of a line. */
function replaced(line: string, key: string, value: string): string {
  const [, before, comment] =
    /^([^=]*=\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'#\s]+)(\s*#.*)?\s*$/.exec(line) ?? [];
  if (before === undefined) return lineOf(key, value);
  return `${before}${JSON.stringify(value)}${comment ?? ''}`;
}

/** The lines of a table without its header; -1 without such a table. */
function rangeOf(lines: readonly string[], table: string | null): { start: number; end: number } {
  const isHeader = (line: string, index: number) => tableOf(line) !== null && !isInString(lines, index);
  const start =
    table === null
      ? 0
      : lines.findIndex((line, index) => tableOf(line) === table && isHeader(line, index)) + 1;
  if (table !== null && start === 0) return { start: -1, end: -1 };
  const next = lines.findIndex((line, index) => index >= start && isHeader(line, index));
  return { start, end: next === -1 ? lines.length : next };
}

function lastFilled(lines: readonly string[], start: number, end: number): number {
  const filled = lines.slice(start, end).findLastIndex((line) => line.trim() !== '');
  return start + filled;
}

function keyOf(line: string): string | null {
  return /^\s*["']?([A-Za-z0-9_-]+)["']?\s*=/.exec(line)?.[1] ?? null;
}

function tableOf(line: string): string | null {
  const name = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$/.exec(line)?.[1];
  return name === undefined ? null : name.replaceAll(/["'\s]/g, '');
}

/** Whether a line is inside a multi-line string. */
function isInString(lines: readonly string[], index: number): boolean {
  const before = lines.slice(0, index).join('\n');
  return [`"""`, "'''"].some((mark) => before.split(mark).length % 2 === 0);
}
