/** The files of the repository as the rules see them: text only, held in memory, so that rules stay pure. */
export interface Tree {
  readonly files: readonly TreeFile[];
}

export interface TreeFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Finding {
  readonly path: string;
  /** One-based; null when the finding concerns the file as a whole. */
  readonly line: number | null;
  readonly message: string;
}

export function sayFinding(rule: string, { path, line, message }: Finding): string {
  return `${path}${line === null ? '' : `:${line}`} ${rule}: ${message}\n`;
}

/** Builds a small tree for the tests of the rules. */
export function treeOf(files: Readonly<Record<string, string>>): Tree {
  return { files: Object.entries(files).map(([path, text]) => ({ path, text })) };
}

/** One finding for each line that the pattern matches. */
export function findLines(file: TreeFile, pattern: RegExp, message: string): Finding[] {
  return file.text
    .split('\n')
    .flatMap((text, index) => (pattern.test(text) ? [{ path: file.path, line: index + 1, message }] : []));
}

const generatedPaths = new Set([
  'contract/openapi.json',
  'contract/relay.schema.json',
  'contract/src/api-types.ts',
  'package-lock.json',
  'server/src/admission/redis/script/metrics.lua',
]);

/** Written by `npm run generate`, so the rules about how people write do not apply. */
export function isGenerated(path: string): boolean {
  return generatedPaths.has(path) || path.startsWith('docs/reference/');
}
