// Replays have their own thread: one takes seconds of processor time, which would delay every request that the process serves.
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../kit/clock.ts';
import type { ReplayedRow } from '../../store/ledger/log/read-replayed.ts';
import { type BothReplays, startBothReplays } from './replay-both.ts';
import type { WhatIfMessage } from './what-if-messages.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs only as a worker thread');

let replays: BothReplays | null = null;
/** Messages are worked on one after the other. A failure is an unhandled rejection, which ends the thread with an error for its owner. */
let working: Promise<void> = Promise.resolve();

port.on('message', (message: WhatIfMessage) => {
  working = working.then(() => work(message));
});

async function work(message: WhatIfMessage): Promise<void> {
  if (message.kind === 'start') replays = await startBothReplays(message.input, systemClock.monotonicMs);
  else if (message.kind === 'rows') await replays?.take(JSON.parse(message.json) as ReplayedRow[]);
  else port?.postMessage(await replays?.finish());
}
