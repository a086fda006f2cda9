import type {
  AdmissionAnswer,
  AdmissionAsk,
  AdmissionEngine,
  LineListener,
  Release,
} from '../../admission/engine.ts';
import { createEpochs, type EpochDeps, type Epochs } from '../../admission/redis/epochs.ts';
import { createStoreClock } from '../../admission/redis/store-clock.ts';
import { type ActiveShards, createActiveShards } from '../../store/redis/active-shards.ts';
import type { Redis } from '../../store/redis/redis.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import { storeUnavailable } from '../../store/store-error.ts';
import type { Link } from './network.fixture.ts';
import type { Fence } from './shard-fences.fixture.ts';
import type { SharedStore, StoreReply } from './shared-store.fixture.ts';

const SECOND_ALARM_MS = 60;
const SECOND_ALARM_SPREAD_MS = 40;

/** A process with a connection to the shared store. */
export interface StoreClient {
  readonly engine: AdmissionEngine;
  readonly redis: Pick<Redis, 'run' | 'shards'>;
  /** The connection for messages is restored after messages may have been lost. */
  reconnected(): void;
  /** Another process's call released one of this one's waiters. */
  woken(operationId: string, release: Release, storeMs: number): void;
}

/** Who hears of a release. */
export interface Owners {
  asked(operationId: string, client: StoreClient): void;
  /** Told by the store, to everyone but the caller. */
  publish(reply: StoreReply<unknown>, caller: StoreClient): void;
}

export interface RemoteEngineDeps {
  readonly store: SharedStore;
  readonly link: Link;
  readonly line: LineListener;
  readonly owners: Owners;
  readonly epochs: EpochDeps;
  /** All shards of the deployment, which a sweep goes through. */
  readonly prefixes: readonly string[];
  /** Every ask, and what came back; for those who judge. */
  readonly onAsk: (ask: AdmissionAsk) => void;
  readonly onAnswer: (ask: AdmissionAsk, answer: AdmissionAnswer) => void;
}

/**
 * What `redis/engine.ts` is to Redis: each call is one message and runs whole in the store. Releases of other gateways' waiters
 * travel apart; after a call that failed and may have run, the line asks again.
 */
export function createStoreClient(deps: RemoteEngineDeps): StoreClient {
  const { store, link, line, owners } = deps;
  const storeClock = createStoreClock();
  const run: Redis['run'] = (command) =>
    link.call(command.slice(0, 2).join(' ').slice(0, 40), () => store.command(command));
  const shards: ActiveShards = createActiveShards((command) => run(command));
  const organizations = new Set<string>();
  const epochs = createEpochs(deps.epochs, {
    run: (name, prefix, args) => link.call(`${name} ${prefix}`, () => store.begin(prefix, args)),
  });

  async function fencesOf(organizationId: string | null): Promise<Fence[]> {
    const prefixes = organizationId === null ? deps.prefixes : [prefixOf(organizationId)];
    return Promise.all(prefixes.map(async (prefix) => ({ prefix, ...(await epochs.seen(prefix)) })));
  }

  /** As `fenced-scripts.ts` does it. */
  async function fenced<T>(
    what: string,
    organizationId: string | null,
    work: (engine: AdmissionEngine) => Promise<T>,
  ): Promise<StoreReply<T>> {
    const fences = await fencesOf(organizationId);
    try {
      const reply = await link.call(what, async () => {
        const done = await store.run(fences, work);
        owners.publish(done, client);
        return done;
      });
      for (const { prefix, epoch } of fences) epochs.saw(prefix, epoch, reply.sequences.get(prefix) ?? 0);
      return reply;
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('EPOCH '))) throw error;
      for (const { prefix, epoch } of fences)
        if (error.message.endsWith(prefix)) epochs.refused(prefix, epoch);
      throw storeUnavailable('redis', error);
    }
  }

  async function call<T>(
    what: string,
    organizationId: string | null,
    movesLine: boolean,
    work: (engine: AdmissionEngine) => Promise<T>,
  ): Promise<T> {
    if (organizationId !== null && movesLine) {
      organizations.add(organizationId);
      shards.use(prefixOf(organizationId));
    }
    const sentMs = performance.now();
    let reply: StoreReply<T>;
    try {
      reply = await fenced(what, organizationId, work);
    } catch (error) {
      if (organizationId !== null && movesLine) line.missed(prefixOf(organizationId));
      throw error;
    }
    const tookMs = performance.now() - sentMs;
    storeClock.told(reply.storeMs, tookMs);
    tellLine(what, reply, tookMs);
    return reply.result;
  }

  /** After the caller went on, as the batches do. */
  function tellLine(what: string, { releases, nexts, storeMs }: StoreReply<unknown>, tookMs: number): void {
    const agoMs = Math.min(storeClock.agoMs(storeMs), tookMs);
    const laterMs =
      what.startsWith('step') && releases.length === 0
        ? SECOND_ALARM_MS + Math.random() * SECOND_ALARM_SPREAD_MS
        : 0;
    setImmediate(() => {
      for (const [operationId, release] of releases) line.released(operationId, aged(release, agoMs));
      for (const [organizationId, inMs] of nexts)
        line.next(organizationId, inMs === null ? null : inMs + laterMs);
    });
  }

  const client: StoreClient = {
    redis: { run, shards },
    reconnected: () => {
      for (const organizationId of organizations) line.missed(prefixOf(organizationId));
    },
    woken: (operationId, release, storeMs) =>
      line.released(operationId, aged(release, storeClock.agoMs(storeMs))),
    engine: engineOf(deps, epochs, call, () => client),
  };
  return client;
}

/** Calls that move a line: after one that failed and may have run, the line asks again. */
const MOVES = new Set(['admit', 'settle', 'void', 'step', 'changeLimits', 'recount']);

type Call = <T>(
  what: string,
  organizationId: string | null,
  movesLine: boolean,
  work: (engine: AdmissionEngine) => Promise<T>,
) => Promise<T>;

/** Every call of the engine's port as a message. */
function engineOf(
  { store, owners, onAsk, onAnswer }: RemoteEngineDeps,
  epochs: Epochs,
  call: Call,
  client: () => StoreClient,
) {
  const names = Object.entries(store.engine()).flatMap(([name, value]) =>
    typeof value === 'function' ? [name as keyof AdmissionEngine] : [],
  );
  const calls = names.map((name) => [
    name,
    (first?: AdmissionAsk | string, ...rest: unknown[]) => {
      const [about, organizationId] =
        typeof first === 'object' ? [first.operationId, first.organizationId] : [rest[0], first ?? null];
      const what = `${name} ${typeof about === 'string' ? about : ''}`;
      return call(what, organizationId, MOVES.has(name), (engine): Promise<unknown> => {
        const method = engine[name];
        return method === undefined ? Promise.resolve(null) : Reflect.apply(method, engine, [first, ...rest]);
      });
    },
  ]);
  const engine = Object.fromEntries(calls) as AdmissionEngine;
  return {
    ...engine,
    async admit(ask: AdmissionAsk) {
      onAsk(ask);
      owners.asked(ask.operationId, client());
      await epochs.before(prefixOf(ask.organizationId));
      const answer = await engine.admit(ask);
      onAnswer(ask, answer);
      return answer;
    },
    async usage(organizationId: string, limits: Parameters<AdmissionEngine['usage']>[1]) {
      await epochs.before(prefixOf(organizationId));
      return engine.usage(organizationId, limits);
    },
  };
}

function aged(release: Release, agoMs: number): Release {
  return release.kind === 'admitted' ? { ...release, agoMs } : release;
}
