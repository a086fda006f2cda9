// Measures the parts of one checkout in this process, which ends with microseconds of each as one line of JSON.
// Started as `node measure.ts ROOT`, several times: what the compiler makes of the same code differs from start to start.
import { percentile } from '../statistics.ts';
import { createBodyScan } from './body-scan.ts';
import { createFrame } from './frame.ts';
import type { Part } from './part.ts';
import { createReference } from './reference.ts';
import { createSettle } from './settle.ts';

const ROUNDS = 400;
/** The quickest of many short runs are those that nothing disturbed. */
const QUICKEST_SHARE = 0.02;

async function tookUs(part: Part): Promise<number> {
  await part.prepare?.();
  const startMs = performance.now();
  await part.run();
  return (performance.now() - startMs) * 1_000;
}

const [root = ''] = process.argv.slice(2);
const parts: Readonly<Record<string, Part>> = {
  reference: createReference(),
  body_scan: await createBodyScan(root),
  settle: await createSettle(root),
  frame: await createFrame(root),
};
const times: Record<string, number[]> = {};
for (const [name, part] of Object.entries(parts)) {
  for (let run = 0; run < part.warmUps; run += 1) await tookUs(part);
  times[name] = [];
}
for (let round = 0; round < ROUNDS; round += 1)
  for (const [name, part] of Object.entries(parts)) times[name]?.push(await tookUs(part));
const quickest = Object.entries(times).map(([name, each]) => [name, percentile(each, QUICKEST_SHARE)]);
process.stdout.write(`${JSON.stringify(Object.fromEntries(quickest))}\n`);
process.exit();
