import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { createRandom } from '../chaos/random.ts';
import { compareLines } from '../chaos/usage-lines.ts';
import { reportFigures } from '../harness/figures.ts';
import { severalProcesses } from '../harness/stores.ts';
import { kills } from './kills.ts';
import { type Scene, startScene } from './scene.ts';

// Workers and the broker are killed while rows of the ledger are published; then the stream is compared with the ledger.

/** A moment that is missed is tried again this often in all. */
const MISSES_MAX = IS_LONG ? 10 : 3;
type Moment = keyof typeof kills;
/** Reading back is two kills. */
const PLAN: readonly Moment[] = IS_LONG
  ? [
      ...times(6, 'amongMessages'),
      ...times(5, 'beforeCommit'),
      ...times(3, 'whileReadingBack'),
      ...times(4, 'broker'),
    ]
  : ['amongMessages', 'whileReadingBack', 'broker'];

const seed = Number(process.env['RELAY_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
let scene: Scene;

before(async () => {
  scene = await startScene();
});
after(() => scene.stop());

severalProcesses.describe(
  'rows that are published to JetStream while workers and the broker are killed',
  () => {
    it('arrive all, each once, under the id of their request', async () => {
      const met = new Map<string, number>();
      let misses = 0;
      for (const moment of createRandom(seed).shuffled([...PLAN])) {
        while (!(await oneRound(moment))) {
          misses += 1;
          assert.ok(misses <= MISSES_MAX, `${moment} did not come about, seed ${seed}`);
        }
        met.set(moment, (met.get(moment) ?? 0) + 1);
      }
      await scene.startWorker();
      await scene.untilWritten();
      await judge(met, misses);
    });
  },
);

/** Begins with a worker that has published before, so that its next portion starts with messages. */
async function oneRound(moment: Moment): Promise<boolean> {
  await scene.startWorker();
  await scene.ask();
  await scene.untilWritten();
  const isMet = await kills[moment](scene);
  await scene.startWorker();
  await scene.untilWritten();
  return isMet;
}

async function judge(met: ReadonlyMap<string, number>, misses: number): Promise<void> {
  const lines = await scene.stream.lines();
  const { lost, duplicated, wrong } = await compareLines(lines, scene.ledger);
  const ids = new Set(lines.map(({ messageId }) => messageId));
  const count = (moment: string) => met.get(moment) ?? 0;
  const figures = {
    rows: (await scene.ledger.rows()).length,
    messages: lines.length,
    missing: lost.length,
    doubled: duplicated.length + (lines.length - ids.size),
    wrong: wrong.length,
    failed_requests: scene.counts.failed,
    worker_kills: count('amongMessages') + count('beforeCommit') + 2 * count('whileReadingBack'),
    broker_kills: count('broker'),
    misses,
    seed,
  };
  reportFigures(figures);
  const { rows, messages, missing, doubled, failed_requests } = figures;
  assert.deepEqual(
    { messages, missing, doubled, wrong: wrong.length },
    { messages: rows, missing: 0, doubled: 0, wrong: 0 },
  );
  assert.equal(rows, scene.counts.requests);
  assert.equal(failed_requests, 0);
  for (const line of lines) assert.equal(line.messageId, line.request_id);
}

function times(count: number, value: Moment): Moment[] {
  return Array.from({ length: count }, () => value);
}
