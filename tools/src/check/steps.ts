import { join } from 'node:path';
import { checkImports } from './imports.ts';
import { runCommand } from './run-command.ts';

export interface Step {
  readonly name: string;
  readonly what: string;
  /** Paths limit the steps that can be limited: format, lint and the unit tests. */
  run(root: string, paths: readonly string[]): Promise<{ ok: boolean; output: string }>;
}

/** Cheap and telling steps first, so that a failure shows early. */
export const steps: readonly Step[] = [
  {
    name: 'format',
    what: 'format and lint (Biome)',
    run: (root, paths) =>
      node(root, 'node_modules/@biomejs/biome/bin/biome', [
        'ci',
        '--error-on-warnings',
        '--diagnostic-level=warn',
        '--colors=off',
        '--reporter=concise',
        '--no-errors-on-unmatched',
        ...(paths.length === 0 ? ['.'] : paths),
      ]),
  },
  {
    name: 'imports',
    what: 'imports follow the table, and every file was read',
    run: (root) => checkImports(root),
  },
  {
    name: 'types',
    what: 'types (TypeScript, native)',
    run: async (root) => {
      const compiler = 'node_modules/@typescript/native/bin/tsc';
      // Several threads check the same types, each on its own: together they take twice the CPU of one.
      const check = (project: string) => node(root, compiler, ['--project', project, '--singleThreaded']);
      const all = await check('tsconfig.json');
      // Browser code has the types of the page, not those of Node.
      const page = await check('console/tsconfig.json');
      // The types of its generator declare elements of a page without their properties, for every file beside them.
      const site = await check('site/tsconfig.json');
      return { ok: all.ok && page.ok && site.ok, output: all.output + page.output + site.output };
    },
  },
  {
    name: 'generated',
    what: 'generated files are up to date',
    run: (root) => node(root, 'tools/src/generate.ts', ['--check', '--root', root]),
  },
  {
    name: 'tidy',
    what: 'style and documents (tidy)',
    run: (root) => node(root, 'tools/src/tidy.ts', [`--root=${root}`]),
  },
  {
    name: 'knip',
    what: 'no dead files, exports or dependencies (knip)',
    run: (root) => node(root, 'node_modules/knip/bin/knip.js', ['--no-progress']),
  },
  {
    name: 'lint',
    what: 'promises, switches, egress, environment, long files and functions (oxlint)',
    run: (root, paths) =>
      node(root, 'node_modules/oxlint/bin/oxlint', [
        '--deny-warnings',
        '--no-error-on-unmatched-pattern',
        ...(paths.length === 0 ? ['.'] : paths),
      ]),
  },
  {
    name: 'unit',
    what: 'unit tests',
    run: (root, paths) => node(root, 'tools/src/run-tests.ts', ['unit', `--root=${root}`, ...paths]),
  },
];

function node(
  root: string,
  script: string,
  args: readonly string[],
): Promise<{ ok: boolean; output: string }> {
  return runCommand(process.execPath, [join(root, script), ...args], root);
}
