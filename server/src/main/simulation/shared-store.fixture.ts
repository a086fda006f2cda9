import type { AdmissionEngine, Release, SettleAsk } from '../../admission/engine.ts';
import { createMemoryEngine, type MemoryEngine } from '../../admission/memory/engine.ts';
import { prefixOf, usageStreamOf } from '../../store/redis/shards.ts';
import { createServer, type SimServer } from './network.fixture.ts';
import {
  beginEpoch,
  epochText,
  type Fence,
  passFences,
  type Shards,
  shortUnknownUntilMs,
} from './shard-fences.fixture.ts';
import { createStreams, type Streams } from './streams.fixture.ts';
import type { VirtualTime } from './virtual-time.fixture.ts';

/** What one call changed for those who wait. */
export interface StoreReply<T> {
  readonly result: T;
  readonly storeMs: number;
  readonly releases: readonly (readonly [operationId: string, release: Release])[];
  /** Organization → when its line has something to do. */
  readonly nexts: ReadonlyMap<string, number | null>;
  /** By shard. */
  readonly sequences: ReadonlyMap<string, number>;
}

/** What the store would lose with its memory. */
interface Remembered {
  readonly memory: MemoryEngine['memory'];
  readonly streams: ReturnType<Streams['dump']>;
  readonly shards: Shards;
}

/**
 * Stands for the server that gateways and workers share: the reference engine with its usage streams, as one process that does
 * one call after the other. It can freeze, restart with less than it had, and come back empty.
 */
export interface SharedStore {
  readonly server: SimServer;
  /** Rejects, and does nothing, when the state is another than the caller has seen. */
  run<T>(fences: readonly Fence[], work: (engine: AdmissionEngine) => Promise<T>): Promise<StoreReply<T>>;
  begin(prefix: string, args: readonly string[]): unknown;
  command(command: readonly string[]): unknown;
  remember(): Remembered;
  /** Null: it comes back empty. */
  restart(from: Remembered | null): void;
  /**
   * Shards that lost something, and no process found out: others wrote as much as was lost before the next call of one that had seen more.
   */
  unnoticedLosses(): number;
  engine(): MemoryEngine;
  streams(): Streams;
  /** When the leases of operations expired after their dispatch. */
  readonly expired: Map<string, number>;
}

export function createSharedStore(time: VirtualTime): SharedStore {
  const expired = new Map<string, number>();
  const nowMs = () => Math.floor(time.nowMs());
  let releases: [string, Release][] = [];
  let nexts = new Map<string, number | null>();
  let streams = createStreams(nowMs);
  let shards: Shards = new Map();
  /** By shard: the epoch that lost something. */
  const lost = new Map<string, number>();

  function append(organizationId: string, fields: readonly string[]): void {
    streams.run(['XADD', usageStreamOf(prefixOf(organizationId)), '*', ...fields]);
  }

  function start(remembered?: Remembered['memory']): MemoryEngine {
    return createMemoryEngine(
      {
        clock: { nowMs },
        get shortWindowsUnknownUntilMs() {
          return shortUnknownUntilMs(shards);
        },
        append: ({ organizationId, record }: SettleAsk) => append(organizationId, ['r', record]),
        appendExpired(draft, candidate) {
          const { organizationId, requestId }: { organizationId: string; requestId: string } =
            JSON.parse(draft);
          expired.set(requestId, nowMs());
          append(organizationId, ['x', draft, 'c', String(candidate)]);
        },
        line: {
          released: (operationId, release) => void releases.push([operationId, release]),
          next: (organizationId, inMs) => void nexts.set(organizationId, inMs),
          missed: () => undefined,
        },
      },
      remembered,
    );
  }
  let engine = start();

  /** The engine's scripts keep the leases of a shard under this key. */
  function leasesIn(key: string): number {
    const all = [...engine.memory.leases.values()];
    return all.filter(({ organizationId }) => `${prefixOf(organizationId)}expiry` === key).length;
  }

  return {
    server: createServer('store'),
    expired,
    engine: () => engine,
    streams: () => streams,
    async run(fences, work) {
      const sequences = passFences(shards, fences);
      releases = [];
      nexts = new Map();
      const result = await work(engine);
      // It tells in a microtask after the call.
      await Promise.resolve();
      return { result, storeMs: nowMs(), releases, nexts, sequences };
    },
    begin: (prefix, args) => beginEpoch(shards, engine, nowMs(), prefix, args),
    command([name = '', key = '', ...args]) {
      if (name === 'ZCARD') return leasesIn(key);
      if (name === 'GET') return epochText(shards, key.slice(0, -'epoch'.length));
      if (name === 'TIME') return [String(Math.floor(nowMs() / 1_000)), String((nowMs() % 1_000) * 1_000)];
      return streams.run([name, key, ...args]);
    },
    remember: () => {
      // What it remembers beside is how it works with that.
      const data = Object.entries(engine.memory).filter(([, value]) => typeof value !== 'function');
      const memory = Object.fromEntries(data) as unknown as Remembered['memory'];
      return structuredClone({ memory, streams: streams.dump(), shards });
    },
    unnoticedLosses: () =>
      [...lost].filter(([prefix, epoch]) => (shards.get(prefix)?.epoch ?? 0) <= epoch).length,
    restart(from) {
      const before = shards;
      shards = from?.shards ?? new Map();
      for (const [prefix, { epoch, sequence }] of before)
        if ((shards.get(prefix)?.sequence ?? 0) < sequence) lost.set(prefix, epoch);
      engine = start(from?.memory);
      streams = createStreams(nowMs, from?.streams);
    },
  };
}
