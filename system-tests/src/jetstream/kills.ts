import { holdTable } from './hold-table.ts';
import type { Scene } from './scene.ts';

const SENT_MS_MAX = 30_000;

/** Kills a worker or the broker at one moment of a portion; false when the moment did not come about. */
type Kill = (scene: Scene) => Promise<boolean>;

/** As soon as the first messages of a portion are in the stream, and its rows not committed. */
const amongMessages: Kill = (scene) =>
  atFirstMessage(scene, async () => {
    await scene.killWorker();
  });

/** With all messages of a portion in the stream, and its rows not committed. */
const beforeCommit: Kill = (scene) =>
  whileHeld(scene, 'sink_portions', async (held) => {
    const before = await scene.stream.lastSeq();
    await scene.ask();
    if (!(await held.isMet('insert into "sink_portions"%'))) return false;
    const isSent = (await scene.stream.lastSeq()) > before;
    await scene.killWorker();
    return isSent;
  });

/** As before, and the next worker again while it reads back what the first one sent. */
const whileReadingBack: Kill = (scene) =>
  whileHeld(scene, 'sink_portions', async (held) => {
    await scene.ask();
    if (!(await held.isMet('insert into "sink_portions"%'))) return false;
    await scene.killWorker();
    await scene.startWorker();
    if (!(await held.isMet('insert into "sink_portions"%'))) return false;
    await scene.killWorker();
    return true;
  });

/** The broker, as soon as the first messages of a portion are acknowledged. Requests continue while it is down. */
const broker: Kill = (scene) =>
  atFirstMessage(scene, async () => {
    await scene.nats.kill();
    await scene.ask();
    await scene.nats.start();
  });

export const kills = { amongMessages, beforeCommit, whileReadingBack, broker } as const;

/** The rows of a portion wait until all of them are in the ledger, so that their messages follow each other closely. */
function atFirstMessage(scene: Scene, act: () => Promise<void>): Promise<boolean> {
  return whileHeld(scene, 'sink_leases', async (held) => {
    await scene.ask();
    if (!(await held.isMet('%sink_leases%'))) return false;
    const before = await scene.stream.lastSeq();
    const isSent = scene.stream.untilPast(before, SENT_MS_MAX);
    await held.release();
    if (!(await isSent)) return false;
    await act();
    return true;
  });
}

async function whileHeld(
  scene: Scene,
  table: string,
  act: (held: Awaited<ReturnType<typeof holdTable>>) => Promise<boolean>,
): Promise<boolean> {
  const held = await holdTable(scene.databaseUrl, table, scene.ledger);
  try {
    return await act(held);
  } finally {
    await held.release();
  }
}
