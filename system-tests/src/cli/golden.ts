import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const GOLDEN = join(import.meta.dirname, 'golden');

/** The first lines that differ from the golden file, or null. With RELAY_UPDATE_GOLDEN=1 the file is written instead. */
export function differenceFromGolden(name: string, text: string): string | null {
  const path = join(GOLDEN, `${name}.txt`);
  if (process.env['RELAY_UPDATE_GOLDEN'] === '1') {
    writeFileSync(path, text);
    return null;
  }
  if (!existsSync(path)) return `${name}: there is no golden file; RELAY_UPDATE_GOLDEN=1 writes it`;
  const expected = readFileSync(path, 'utf8').split('\n');
  const actual = text.split('\n');
  const at = actual.findIndex((line, index) => line !== expected[index]);
  if (at === -1 && actual.length === expected.length) return null;
  const line = at === -1 ? actual.length : at;
  const before = expected.slice(Math.max(0, line - 3), line).map((each) => `    ${each}`);
  return [
    `${name}.txt:${line + 1}`,
    ...before,
    `  - ${expected[line] ?? '(end)'}`,
    `  + ${actual[line] ?? '(end)'}`,
  ].join('\n');
}
