// Measures the parts of one checkout in this process, which ends with microseconds of each as one line of JSON.
// Started as `node parts.ts ROOT`, several times: what the compiler makes of the same code differs from start to start.

import { createBodyScan } from './parts/body-scan.ts';
import { createFrame } from './parts/frame.ts';
import type { Part } from './parts/part.ts';
import { createRecord } from './parts/record.ts';
import { createSettlement } from './parts/settlement.ts';
import { percentile } from './statistics.ts';

const ROUNDS = 200;
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
  body_scan: await createBodyScan(root),
  record: await createRecord(root),
  settlement: await createSettlement(root),
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
