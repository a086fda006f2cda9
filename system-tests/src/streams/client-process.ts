// The clients of a load, in a process of their own: `node client-process.ts '<job as JSON>'`. Writes one line of
// JSON when it is done. A line on its input tells slow clients to hang up.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { runAbort } from './abort-clients.ts';
import type { ClientJob, HungUpResult, WholeResult } from './client-jobs.ts';
import { runSlow } from './slow-clients.ts';
import { runWhole } from './whole-clients.ts';

async function run(job: ClientJob): Promise<WholeResult | HungUpResult> {
  switch (job.kind) {
    case 'whole':
      return runWhole(job);
    case 'abort':
      return runAbort(job);
    case 'slow':
      return runSlow(job, once(createInterface({ input: process.stdin }), 'line'));
  }
}

const result = await run(JSON.parse(process.argv[2] ?? '{}') as ClientJob);
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
