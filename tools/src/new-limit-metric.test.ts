// A metric that only the contract knows must not compile: every place that has to decide about it says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitMetrics } from '@relay/contract';
import { type PlantedCopy, plantedCopy } from './check/planted-copy.ts';
import { steps } from './check/steps.ts';

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
  'server/src/store/ledger/windows/charged-attempts.ts',
];

function plant(copy: PlantedCopy, path: string, from: string, to: string): void {
  const source = copy.read(path);
  assert.ok(source.includes(from), `${path} does not have ${from}`);
  copy.write(path, source.replace(from, to));
}

// Two cold compilations of the whole tree.
const TIMEOUT_MS = 300_000;

test('a metric that nothing knows does not compile where it has to be decided', {
  timeout: TIMEOUT_MS,
}, async () => {
  using copy = plantedCopy();
  plant(copy, CONTRACT, "'concurrency'] as const", "'concurrency', 'images'] as const");
  plant(copy, TABLE, "| 'spend';", "| 'spend' | 'images';");
  // Not by way of `check`, which shortens what a step prints.
  const output = (await steps.find(({ name }) => name === 'types')?.run(copy.root, []))?.output ?? '';
  const refused = new Set(output.split('\n').map((line) => line.replace(/\(\d+,\d+\): error.*/, '')));
  for (const path of [...DECIDE_METRICS, ...DECIDE_QUANTITIES])
    assert.ok(refused.has(path), `${path} compiles without deciding`);
});

test('a second list of the metrics fails', async () => {
  using copy = plantedCopy();
  copy.write('cli/src/planted.ts', `export const all = ${JSON.stringify(limitMetrics)};\n`);
  const { ok, output } = await copy.check('--only=tidy');
  assert.equal(ok, false);
  assert.match(output, /cli\/src\/planted\.ts:1 limit-metrics: lists the metrics of limits/);
});
