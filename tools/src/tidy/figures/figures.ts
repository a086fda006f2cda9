import type { Finding, Tree } from '../tree.ts';
import { backImports } from './back-imports.ts';
import { type LongFunctions, longFunctions } from './long-functions.ts';
import { productionFiles } from './production-code.ts';
import { type ReadCode, readCode } from './read-code.ts';

/** What `npm run tidy` prints as its last line. README.md says how each is counted. */
export interface Figures {
  readonly functions_over_70: number;
  readonly listed: number;
  readonly files: number;
  readonly production_lines: number;
  readonly casts: number;
  readonly back_imports: Readonly<Record<string, number>>;
}

export interface Bounds {
  readonly functions_over_70: number;
  readonly casts: number;
  /** Per module; a module that is not named may have none. */
  readonly back_imports: Readonly<Record<string, number>>;
}

const bounds: Bounds = {
  functions_over_70: 0,
  casts: 178,
  back_imports: {},
};

export interface Measured {
  readonly figures: Figures;
  /** What exceeds the bounds. */
  readonly findings: readonly Finding[];
  /** Every long function, cast and back import, within the bounds or not. */
  readonly details: readonly Finding[];
}

export function measure(tree: Tree, allowed: Bounds = bounds): Measured {
  const files = productionFiles(tree).map(readCode);
  const long = longFunctions(files);
  const casts = files.flatMap(castsOf);
  const back = backImports(files);
  const figures: Figures = {
    functions_over_70: long.unlisted.length,
    listed: long.listed,
    files: files.length,
    production_lines: files.reduce((sum, { lines }) => sum + lines, 0),
    casts: casts.length,
    back_imports: Object.fromEntries(Object.entries(back).map(([module, found]) => [module, found.length])),
  };
  return {
    figures,
    findings: [
      ...longFindings(long, allowed),
      ...castFindings(files, casts.length, allowed),
      ...Object.entries(back).flatMap(([module, found]) => tooManyBack(module, found, allowed)),
    ],
    details: [
      ...long.unlisted,
      ...casts,
      ...Object.entries(back).flatMap(([path, found]) => asFindings(path, found)),
    ],
  };
}

function castsOf({ path, casts }: ReadCode): Finding[] {
  return casts.map((line) => ({ path, line, message: 'is a cast' }));
}

function longFindings(long: LongFunctions, allowed: Bounds): Finding[] {
  return [...(long.unlisted.length > allowed.functions_over_70 ? long.unlisted : []), ...long.stale];
}

/** Names the files with most casts, because the rule cannot know which cast is new. */
function castFindings(files: readonly ReadCode[], count: number, allowed: Bounds): Finding[] {
  if (count <= allowed.casts) return [];
  const message = `${count} casts in production code, at most ${allowed.casts} are allowed; check the value or narrow its type`;
  return [...files]
    .sort((a, b) => b.casts.length - a.casts.length)
    .slice(0, 5)
    .map(({ path, casts }) => ({
      path,
      line: casts[0] ?? null,
      message: `${message} (${casts.length} here)`,
    }));
}

function tooManyBack(module: string, found: readonly string[], allowed: Bounds): Finding[] {
  const most = allowed.back_imports[module] ?? 0;
  if (found.length <= most) return [];
  return asFindings(module, found).map(({ path, line, message }) => ({
    path,
    line,
    message: `${message} (${found.length} in the module, at most ${most})`,
  }));
}

function asFindings(module: string, found: readonly string[]): Finding[] {
  return found.map((arrow) => ({ path: module, line: null, message: `${arrow} runs back` }));
}
