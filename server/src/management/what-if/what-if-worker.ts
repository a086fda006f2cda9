// Replays have their own thread: one takes seconds of processor time, which would delay every request that the process serves.
import { parentPort } from 'node:worker_threads';
import type { ReplayedRow } from '../../store/ledger/log/read-replayed.ts';
import { replayBoth } from './replay-both.ts';
import type { WhatIfMessage } from './what-if-messages.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the body of a worker');

const rows: ReplayedRow[] = [];

port.on('message', (message: WhatIfMessage) => {
  if (message.kind === 'rows') rows.push(...(JSON.parse(message.json) as ReplayedRow[]));
  else void run(message);
});

/** A failure is an unhandled rejection, which ends the thread with an error for its owner. */
async function run({ input }: Extract<WhatIfMessage, { kind: 'run' }>): Promise<void> {
  const replayed = await replayBoth(rows, input, () => performance.now());
  port?.postMessage(replayed);
}
