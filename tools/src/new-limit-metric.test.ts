// A metric that only the contract knows must not compile: every place that has to decide about it says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlantedCopy, plantedCopy } from './check/planted-copy.ts';
import { runCommand } from './check/run-command.ts';

const CONTRACT = 'contract/src/resources/values.ts';
const TABLE = 'server/src/domain/limits/metric.ts';

/** What decides about each metric. */
const DECIDE_METRICS = [
  TABLE,
  'server/src/inference/rate-headers.ts',
  'cli/src/resources/limits.ts',
  'console/src/pages/limits/limit-words.ts',
  'console/src/parts/limit-metrics.ts',
  'console/src/text/limits.ts',
  'bench/src/limits/organization-traffic.ts',
  'system-tests/src/harness/ask-company.ts',
  'system-tests/src/chaos/world.ts',
];
/** What decides about each quantity that a metric can add up. */
const DECIDE_QUANTITIES = [
  TABLE,
  'server/src/domain/limits/bound-estimate.ts',
  'server/src/store/ledger/windows/ledger-quantities.ts',
];

test('a metric that nothing knows does not compile where it has to be decided', async () => {
  using copy = plantedCopy();
  plant(copy, CONTRACT, "'concurrency'] as const", "'concurrency', 'images'] as const");
  plant(copy, TABLE, "| 'spend';", "| 'spend' | 'images';");
  const deciding = [...DECIDE_METRICS, ...DECIDE_QUANTITIES];
  const isOfPage = (path: string) => path.startsWith('console/');
  const refused = new Set([
    ...(await refusedIn(
      copy,
      './tsconfig.json',
      deciding.filter((path) => !isOfPage(path)),
    )),
    ...(await refusedIn(copy, './console/tsconfig.json', deciding.filter(isOfPage))),
  ]);
  for (const path of deciding) assert.ok(refused.has(path), `${path} compiles without deciding`);
});

/** The files that do not compile, of these and what they import. */
async function refusedIn(copy: PlantedCopy, base: string, files: readonly string[]): Promise<string[]> {
  const compilerOptions = { incremental: false, tsBuildInfoFile: null };
  copy.write('tsconfig.planted.json', JSON.stringify({ extends: base, compilerOptions, files, include: [] }));
  const args = ['node_modules/@typescript/native/bin/tsc', '--project', 'tsconfig.planted.json'];
  const { output } = await runCommand(process.execPath, args, copy.root);
  return output.split('\n').map((line) => line.replace(/\(\d+,\d+\): error.*/, ''));
}

function plant(copy: PlantedCopy, path: string, from: string, to: string): void {
  const source = copy.read(path);
  assert.ok(source.includes(from), `${path} does not have ${from}`);
  copy.write(path, source.replace(from, to));
}
