/** A published package, part of what we publish. */
export interface Part {
  readonly name: string;
  readonly version: string;
}

const HEADING = /^## (\S+) - (\S+) \(.+\)$/gm;
/** The bundler writes the path of each module above its code. */
const MODULE = /^\s*\/\/ (?:#region )?(?:\S*\/)?node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\/\S+$/gm;

/** The parts that a file of notices names: its headings. */
export function partsIn(notices: string): Part[] {
  return [...notices.matchAll(HEADING)].map(([, name = '', version = '']) => ({ name, version }));
}

/** Throws if a file of the bundle has code of a package that the notices do not name. */
export function demandNamed(files: readonly string[], notices: string): void {
  const named = new Set(partsIn(notices).map(({ name }) => name));
  const held = new Set(files.flatMap((code) => [...code.matchAll(MODULE)].map(([, name = '']) => name)));
  if (held.size === 0) throw new Error('the bundle does not say which packages its code is from');
  const unnamed = [...held].filter((name) => !named.has(name)).sort();
  if (unnamed.length > 0)
    throw new Error(`the bundle has code of ${unnamed.join(', ')}, which no notice names`);
}
