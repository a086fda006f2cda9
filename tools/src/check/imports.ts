import { join } from 'node:path';
import { runCommand } from './run-command.ts';
import { sourceFiles } from './source-files.ts';

interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly rule: { readonly name: string; readonly severity: string };
      readonly from: string;
      readonly to: string;
    }[];
  };
}

/**
 * Holds the imports against the table of `.dependency-cruiser.cjs`. The tool passes when it reads nothing,
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
    ...cruise.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
    ...unreadFiles(
      onDisk,
      cruise.modules.map(({ source }) => source),
    ),
  ];
  return { ok: complaints.length === 0, output: complaints.join('\n') };
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
