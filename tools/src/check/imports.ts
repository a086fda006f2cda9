import { join } from 'node:path';
import { type ImportException, importExceptions } from './import-table.ts';
import { type ImportingModule, layerCycles } from './layers.ts';
import { runCommand } from './run-command.ts';
import { sourceFiles } from './source-files.ts';

interface Cruise {
  readonly modules: readonly ImportingModule[];
  readonly summary: { readonly violations: readonly Violation[] };
}

interface Violation {
  readonly rule: { readonly name: string };
  readonly from: string;
  readonly to: string;
}

/**
 * Holds the imports against the tables of `import-table.ts`. The tool passes when it reads nothing,
 * which it does whenever it finds no TypeScript it can drive, so what it read is compared with the disk.
 */
export async function checkImports(root: string): Promise<{ ok: boolean; output: string }> {
  const onDisk = sourceFiles(root);
  const members = [...new Set(onDisk.map((path) => path.slice(0, path.indexOf('/'))))];
  if (members.length === 0) return { ok: false, output: 'no source file found on disk' };
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...members];
  const run = await runCommand(process.execPath, args, root);
  const cruise = parseCruise(run.stdout);
  if (cruise === null) return { ok: false, output: `dependency-cruiser gave no report\n${run.output}` };

  const complaints = [
    ...unexcused(cruise.summary.violations, importExceptions),
    ...layerCycles(cruise.modules),
    ...unreadFiles(
      onDisk,
      cruise.modules.map(({ source }) => source),
    ),
  ];
  return { ok: complaints.length === 0, output: complaints.join('\n') };
}

/** The violations without an exception, and the exceptions without a violation. */
export function unexcused(
  violations: readonly Violation[],
  exceptions: readonly ImportException[],
): string[] {
  const open = exceptions.flatMap(({ rule, to, from }) =>
    from.map((start) => ({ rule, to, from: start, used: false })),
  );
  const left = violations.filter(({ rule, from, to }) => {
    const matching = open.filter(
      (one) => one.rule === rule.name && from.startsWith(one.from) && to.startsWith(one.to),
    );
    for (const one of matching) one.used = true;
    return matching.length === 0;
  });
  return [
    ...left.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
    ...open
      .filter(({ used }) => !used)
      .map(
        ({ rule, from, to }) =>
          `${rule}: ${from} does not import ${to}; remove the exception from tools/src/check/import-table.ts`,
      ),
  ];
}

/** What is on disk and was not read, or the other way round, with both counts. */
export function unreadFiles(onDisk: readonly string[], modules: readonly string[]): string[] {
  const ours = new Set(modules.filter((source) => onDisk.includes(source)));
  const missed = onDisk.filter((path) => !ours.has(path));
  if (onDisk.length > 0 && missed.length === 0) return [];
  return [
    `the import check read ${ours.size} of ${onDisk.length} source files; it proves nothing until these are equal`,
    ...missed.slice(0, 5).map((path) => `not read: ${path}`),
  ];
}

function parseCruise(text: string): Cruise | null {
  try {
    return JSON.parse(text) as Cruise;
  } catch {
    return null;
  }
}
