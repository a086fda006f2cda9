import { styleText } from 'node:util';

type Line = readonly [sign: ' ' | '-' | '+', text: string];

/** The changed lines. Those around them are left out, because a settings file may hold secrets. */
export function textDiff(
  path: string,
  before: string | null,
  after: string,
  stream: NodeJS.WriteStream,
): string {
  const lines = compare(linesOf(before ?? ''), linesOf(after));
  const shown = lines.flatMap(([sign, text], at) => {
    if (sign === ' ') return at === 0 || lines[at - 1]?.[0] !== ' ' ? ['  …'] : [];
    return [styleText(sign === '+' ? 'green' : 'red', `${sign} ${text}`.trimEnd(), { stream })];
  });
  const head = before === null ? `${path} (new file)` : path;
  return [styleText('bold', head, { stream }), ...shown].map((line) => `${line}\n`).join('');
}

/** The longest common subsequence; a simple algorithm suffices for short files. */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  const lengths = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(after.length + 1).fill(0),
  );
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const isSame = before[row] === after[column];
      const best = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      (lengths[row] ?? [])[column] = best;
    }
  }
  const lines: Line[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const one = before[row];
    const other = after[column];
    if (one !== undefined && one === other) {
      lines.push([' ', one]);
      row += 1;
      column += 1;
    } else if (one !== undefined && at(row + 1, column) >= at(row, column + 1)) {
      lines.push(['-', one]);
      row += 1;
    } else if (other !== undefined) {
      lines.push(['+', other]);
      column += 1;
    }
  }
  return lines;
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}
