/** Edits of a TOML text that keep all other lines, comments and order. */

/** Sets a root key, which TOML requires before the first table. */
export function setRootValue(text: string, key: string, value: string): string {
  const { lines, newline } = split(text);
  const end = firstTable(lines);
  const line = `${key} = ${quoted(value)}`;
  const known = lines.findIndex(
    (each, index) => index < end && keyOf(each) === key && !isInString(lines, index),
  );
  if (known !== -1) return lines.toSpliced(known, 1, line).join(newline);
  return [line, ...lines].join(newline);
}

/** Replaces a table, or adds it at the end. */
export function setTable(text: string, name: string, values: Readonly<Record<string, string>>): string {
  const { lines, newline } = split(text);
  const table = [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${key} = ${quoted(value)}`)];
  const start = lines.findIndex((line, index) => tableOf(line) === name && !isInString(lines, index));
  if (start === -1) {
    const body = text.trimEnd() === '' ? [] : [...text.trimEnd().split(/\r?\n/), ''];
    return [...body, ...table, ''].join(newline);
  }
  const after = lines.findIndex(
    (line, index) => index > start && tableOf(line) !== null && !isInString(lines, index),
  );
  const rest = after === -1 ? [''] : ['', ...lines.slice(after)];
  return [...lines.slice(0, start), ...table, ...rest].join(newline);
}

function split(text: string): { lines: string[]; newline: string } {
  return { lines: text.split(/\r?\n/), newline: text.includes('\r\n') ? '\r\n' : '\n' };
}

function firstTable(lines: readonly string[]): number {
  const found = lines.findIndex((line, index) => tableOf(line) !== null && !isInString(lines, index));
  return found === -1 ? lines.length : found;
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

function quoted(value: string): string {
  return JSON.stringify(value);
}
