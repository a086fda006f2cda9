import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../kit/clock.ts';
import { entryIn } from '../../kit/entry-in.ts';
import type { Log } from '../../kit/log.ts';
import type { ShardEpoch } from '../../store/ledger/windows/shard-epochs.ts';
import { SHARD_CLOSED_MS, shardOfPrefix } from '../../store/redis/shards.ts';
import { storeUnavailable } from '../../store/store-error.ts';
import { SHORT_WINDOW_MS } from '../rebuild-windows.ts';
import type { ReportShard } from '../shard-reports.ts';
import type { Scripts } from './scripts.ts';
import { listOf } from './wire.ts';

/** How long one who finds an epoch raised but not started waits for the one who raised it. It may have ended. */
const STARTED_MS_MAX = 1_000;
const LOOK_EVERY_MS = 50;
/** A gateway that cannot report, such as without PostgreSQL, lets requests in after this all the same. */
const REPORT_MS_MAX = 10_000;
const RETRY_MS = 200;
/** An epoch is this much above the one before it, at most: no two deployments start the same one, so neither works on what the other started. */
const RISE_MAX = 2 ** 32;
/** A shard that others have rebuilt is open again within milliseconds, and one that they rebuild now a moment after its closed time. */
const REOPENED_MS_MAX = SHARD_CLOSED_MS + 500;
const REOPENED_LOOK_MS = 10;

/** The epochs as PostgreSQL has them. */
export interface EpochStore {
  read(shard: number): Promise<ShardEpoch>;
  /** Raises the epoch unless it was raised since it was read. Returns whether it did. */
  raise(shard: number, from: number, to: number): Promise<boolean>;
}

export interface EpochDeps {
  readonly store: EpochStore;
  /** Organizations whose state a shard may hold. */
  readonly organizations: (prefix: string) => Promise<readonly string[]>;
  /** The state of a shard was started again: what this process has in flight there, and what it settled, has to be written again. */
  readonly restarted: ReportShard;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Rejects when Redis belongs to another deployment. */
  readonly demandOwn: () => Promise<void>;
  readonly log: Log;
}

/**
 * Which state in Redis this process believes. Each shard has an epoch, which PostgreSQL keeps, and a sequence that every write raises. Scripts refuse to
 * work on another epoch, or on a state that is older than one that this process has seen: Redis lost its data, or a replica took over that was behind.
 */
export interface Epochs {
  /** Null: requests may be let in. Otherwise resolves when they may, or rejects when that takes a moment. */
  before(prefix: string): Promise<void> | null;
  /** What this process has seen of the shard, for a script. Rejects when nothing can be learned of it. */
  seen(prefix: string): Seen | Promise<Seen>;
  /** A reply told the sequence of the shard's state in that epoch. */
  saw(prefix: string, epoch: number, sequence: number): void;
  /** A script refused that epoch. Never fails. */
  refused(prefix: string, epoch: number): void;
  /** After a refusal: resolves when requests may be let in again, and rejects when that takes longer than a caller should wait. */
  reopened(prefix: string): Promise<void>;
}

interface Seen {
  /** 0: not known. */
  readonly epoch: number;
  readonly sequence: number;
}

interface ShardState {
  epoch: number;
  sequence: number;
  /** A script refused its state, and it is not known yet why. */
  isDoubted: boolean;
  /** A new epoch has started, and what is in flight is being reported. */
  isRestarting: boolean;
  learning: Promise<void> | null;
}

interface Stored {
  readonly epoch: number;
  readonly sequence: number;
  readonly opensInMs: number;
}

/** A process without a past in a shard knows this of it. */
const UNKNOWN = { epoch: 0, sequence: 0, isDoubted: false, isRestarting: false, learning: null };

export function createEpochs(deps: EpochDeps, scripts: Pick<Scripts, 'run'>): Epochs {
  const shards = new Map<string, ShardState>();
  const stateOf = (prefix: string) => entryIn(shards, prefix, (): ShardState => ({ ...UNKNOWN }));

  async function learn(prefix: string, state: ShardState): Promise<void> {
    const stored = await believedState(deps, scripts, prefix, state);
    const isNew = stored.epoch !== state.epoch;
    // A process without a past in this shard has nothing to report.
    const reports = isNew && (state.epoch !== 0 || stored.opensInMs > 0);
    state.sequence = isNew ? stored.sequence : Math.max(state.sequence, stored.sequence);
    state.epoch = stored.epoch;
    state.isDoubted = false;
    if (!reports) return;
    deps.log.warn({ shard: prefix, epoch: stored.epoch }, 'Redis lost state; rebuilding limits');
    state.isRestarting = true;
    void report(deps, prefix, stored).then(() => {
      if (state.epoch === stored.epoch) state.isRestarting = false;
    });
  }

  function learning(prefix: string, state: ShardState): Promise<void> {
    state.learning ??= learn(prefix, state).finally(() => {
      state.learning = null;
    });
    return state.learning;
  }

  async function learnUntilKnown(prefix: string, state: ShardState): Promise<void> {
    while (state.isDoubted) {
      // What fails here fails the calls of requests as well, which say so.
      await learning(prefix, state).catch(() => delay(RETRY_MS, undefined, { ref: false }));
    }
  }

  return {
    before(prefix) {
      const state = stateOf(prefix);
      if (isOpen(state)) return null;
      if (state.epoch !== 0) return Promise.reject(beingRebuilt());
      return learning(prefix, state).then(() => {
        if (!isOpen(state)) throw beingRebuilt();
      });
    },
    seen(prefix) {
      const state = stateOf(prefix);
      return state.epoch === 0 ? learning(prefix, state).then(() => state) : state;
    },
    saw(prefix, epoch, sequence) {
      const state = stateOf(prefix);
      if (epoch === state.epoch && sequence > state.sequence) state.sequence = sequence;
    },
    refused(prefix, epoch) {
      const state = stateOf(prefix);
      if (state.isDoubted || epoch !== state.epoch) return;
      state.isDoubted = true;
      void learnUntilKnown(prefix, state);
    },
    async reopened(prefix) {
      const state = stateOf(prefix);
      const startedMs = systemClock.monotonicMs();
      while (!isOpen(state)) {
        if (systemClock.monotonicMs() - startedMs >= REOPENED_MS_MAX) throw beingRebuilt();
        await delay(REOPENED_LOOK_MS, undefined, { ref: false });
      }
    },
  };
}

function isOpen({ epoch, isDoubted, isRestarting }: ShardState): boolean {
  return epoch !== 0 && !isDoubted && !isRestarting;
}

/** Resolves when the shard may be opened. */
async function report(deps: EpochDeps, prefix: string, { opensInMs }: Stored): Promise<void> {
  const opens = delay(opensInMs, undefined, { ref: false });
  // Until now, scripts of this process worked on the epoch before.
  const beforeMs = systemClock.monotonicMs();
  const reported = deps.restarted({ shard: prefix, beforeMs, opensInMs }).catch((error: unknown) => {
    deps.log.warn({ err: error, shard: prefix }, 'could not report in-flight requests');
  });
  await Promise.race([reported, delay(REPORT_MS_MAX, undefined, { ref: false })]);
  await opens;
}

/** What is stored if it can be believed, otherwise a new epoch. */
async function believedState(
  deps: EpochDeps,
  scripts: Pick<Scripts, 'run'>,
  prefix: string,
  state: ShardState,
): Promise<Stored> {
  const { store, random, demandOwn } = deps;
  const shard = shardOfPrefix(prefix);
  for (const startedMs = systemClock.monotonicMs(); ; await delay(LOOK_EVERY_MS, undefined, { ref: false })) {
    const found = readStored(await scripts.run('begin', prefix, ['', '0', '', '0', '0']));
    // In this order: what was found before another deployment took over is refused by the next script.
    await demandOwn();
    const kept = await store.read(shard).catch((error: unknown) => {
      // Without PostgreSQL, a process that knows nothing better believes what it finds.
      if (state.epoch === 0 && found.epoch > 0) return null;
      throw error;
    });
    if (kept === null) return found;
    // A script found a lower sequence, and other processes may have raised it since.
    const isBehind = found.epoch === state.epoch && (state.isDoubted || found.sequence < state.sequence);
    if (found.epoch >= kept.epoch && found.epoch > 0 && !isBehind) {
      // The database may be the one that is new, or came from a backup.
      if (found.epoch > kept.epoch) await store.raise(shard, kept.epoch, found.epoch);
      return found;
    }
    // Only the one who raised an epoch starts it. Started a second time, after another loss, it would look like the same to those who knew it.
    const isAwaited = kept.isRecent && kept.epoch > Math.max(found.epoch, state.epoch);
    if (isAwaited && systemClock.monotonicMs() - startedMs < STARTED_MS_MAX) continue;
    const epoch = Math.max(kept.epoch, found.epoch) + 1 + Math.floor(random() * RISE_MAX);
    if (await store.raise(shard, kept.epoch, epoch)) {
      const started = await start(deps, scripts, prefix, epoch, kept.epoch === 0 && found.epoch === 0);
      await demandOwn();
      return started;
    }
  }
}

async function start(
  { organizations }: EpochDeps,
  scripts: Pick<Scripts, 'run'>,
  prefix: string,
  epoch: number,
  isFirst: boolean,
): Promise<Stored> {
  const times = [String(SHARD_CLOSED_MS), String(SHORT_WINDOW_MS)];
  const rest = isFirst ? ['adopt', ...times] : ['', ...times, ...(await organizations(prefix))];
  return readStored(await scripts.run('begin', prefix, ['', String(epoch), ...rest]));
}

function readStored(reply: unknown): Stored {
  const [epoch, sequence, opensInMs] = listOf(reply).map(Number);
  return { epoch: epoch ?? 0, sequence: sequence ?? 0, opensInMs: opensInMs ?? 0 };
}

function beingRebuilt(): Error {
  return storeUnavailable('redis', 'limits are being rebuilt because Redis lost state');
}
