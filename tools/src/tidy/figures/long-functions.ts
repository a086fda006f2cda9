import type { Finding } from '../tree.ts';
import type { ReadCode } from './read-code.ts';

const LINES_MAX = 70;

interface ListedFunction {
  readonly path: string;
  readonly name: string;
  readonly reason: string;
}

/** Functions that may be longer, each with the reason. An entry that is no longer needed is a finding. */
const listedFunctions: readonly ListedFunction[] = [];

export interface LongFunctions {
  /** Functions over the limit without a listed reason. */
  readonly unlisted: readonly Finding[];
  readonly listed: number;
  /** List entries that name no long function. */
  readonly stale: readonly Finding[];
}

export function longFunctions(
  files: readonly ReadCode[],
  list: readonly ListedFunction[] = listedFunctions,
): LongFunctions {
  const unlisted: Finding[] = [];
  const used = new Set<ListedFunction>();
  for (const { path, functions } of files) {
    for (const { name, line, lines } of functions) {
      if (lines <= LINES_MAX) continue;
      const entry = list.find((one) => one.path === path && one.name === name);
      if (entry !== undefined) used.add(entry);
      else unlisted.push({ path, line, message: `${name} has ${lines} lines; split it below ${LINES_MAX}` });
    }
  }
  const stale = list
    .filter((entry) => !used.has(entry))
    .map(({ path, name }) => ({
      path,
      line: null,
      message: `${name} is not a long function; take it off the list in tools/src/tidy/figures/long-functions.ts`,
    }));
  return { unlisted, listed: used.size, stale };
}
