// Measures a part of two checkouts in this process, run by run in turn, which ends with the ratio of the first to the second as one
// line of JSON. Started as `node parts.ts ROOT BASE NAME`.

import { createBodyScan } from './parts/body-scan.ts';
import { createFrame } from './parts/frame.ts';
import type { Part } from './parts/part.ts';
import { createRecord } from './parts/record.ts';
import { createSettlement } from './parts/settlement.ts';
import { percentile } from './statistics.ts';

const ROUNDS = 200;
/** The quickest of many short runs are those that nothing disturbed. */
const QUICKEST_SHARE = 0.02;

const create: Readonly<Record<string, (root: string) => Promise<Part>>> = {
  body_scan: createBodyScan,
  record: createRecord,
  settlement: createSettlement,
  frame: createFrame,
};

async function tookUs(part: Part): Promise<number> {
  await part.prepare?.();
  const startMs = performance.now();
  await part.run();
  return (performance.now() - startMs) * 1_000;
}

/** Each goes first in every second round, so that what both of them use is as ready for one as for the other. */
async function ratioOf(own: Part, base: Part): Promise<number> {
  for (let run = 0; run < own.warmUps; run += 1) for (const part of [own, base]) await tookUs(part);
  const times = new Map<Part, number[]>([
    [own, []],
    [base, []],
  ]);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const part of round % 2 === 0 ? [own, base] : [base, own]) times.get(part)?.push(await tookUs(part));
  const quickest = (part: Part) => percentile(times.get(part) ?? [], QUICKEST_SHARE);
  return quickest(own) / quickest(base);
}

const [root = '', base = '', name = ''] = process.argv.slice(2);
const part = create[name];
if (part === undefined) throw new Error(`there is no part ${name}`);
process.stdout.write(`${JSON.stringify(await ratioOf(await part(root), await part(base)))}\n`);
process.exit();
