import { readdirSync } from 'node:fs';
import { openLedgerView } from '../harness/ledger-view.ts';
import type { NetworkedMember } from './fleet.ts';
import { livingWorkers, lockTable, type TableLock } from './kill-worker.ts';
import { awayMs, type Kill, type Scene } from './kills.ts';

const STEPS_MAX = 3_000;
const STEP_MS = 0.2;

/** While it reads the rows of a file that it has begun: the ledger is locked. */
export const inFile: Kill = (scene) =>
  whileBlocked(scene, {
    lock: 'lock table requests in access exclusive mode',
    query: 'select "requests"."request_id"%',
    act: (member) => scene.fleet.kill(member, awayMs(scene)).then(() => true),
  });

/** With a whole file whose rows are not committed: the outcomes of portions are locked. */
export const sealed: Kill = (scene) =>
  whileBlocked(scene, {
    lock: LOCK_OUTCOMES,
    query: WAITS_TO_COMMIT,
    act: (member) => scene.fleet.kill(member, awayMs(scene)).then(() => true),
  });

/** With a committed file that is not renamed: the worker is let go in steps until its commit is seen. */
export const beforeRename: Kill = (scene) =>
  whileBlocked(scene, {
    lock: LOCK_OUTCOMES,
    query: WAITS_TO_COMMIT,
    async act(member, lock) {
      const { pid } = member.process ?? { pid: 0 };
      process.kill(pid, 'SIGSTOP');
      await lock.release();
      const isMet = await stepUntilCommitted(scene, pid);
      if (isMet) await scene.fleet.kill(member, awayMs(scene));
      else process.kill(pid, 'SIGCONT');
      return isMet;
    },
  });

const LOCK_OUTCOMES = 'lock table sink_portions in exclusive mode';
const WAITS_TO_COMMIT = 'insert into "sink_portions"%';

interface Blocking {
  readonly lock: string;
  /** What the statement that waits looks like. */
  readonly query: string;
  act(member: NetworkedMember, lock: TableLock): Promise<boolean>;
}

async function whileBlocked(scene: Scene, { lock: statement, query, act }: Blocking): Promise<boolean> {
  await livingWorkers(scene);
  const lock = await lockTable(scene.fleet.postgres.url, statement, query);
  try {
    const member = await lock.blockedWorker(scene);
    return member !== null && (await act(member, lock));
  } finally {
    await lock.release();
  }
}

async function stepUntilCommitted({ fleet }: Scene, pid: number): Promise<boolean> {
  const view = openLedgerView(fleet.postgres.url);
  const committed = async () =>
    (await view.query<{ id: string }>(`select id from sink_portions where outcome = 'committed'`)).map(
      ({ id }) => id,
    );
  try {
    const before = new Set(await committed());
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const id = (await committed()).find((each) => !before.has(each));
      if (id !== undefined) return readdirSync(fleet.usageFiles).includes(`${id}.part`);
      process.kill(pid, 'SIGCONT');
      // No timer is this short.
      for (const endMs = performance.now() + STEP_MS; performance.now() < endMs; );
      process.kill(pid, 'SIGSTOP');
    }
    return false;
  } finally {
    await view.close();
  }
}
