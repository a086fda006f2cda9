import type { Random } from '@relay/testbed/random';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { createLog, type Log } from '../../kit/log.ts';
import { createJudge, type Judge } from './judge.fixture.ts';
import { createLedgerStore, type LedgerStore } from './ledger-store.fixture.ts';
import type { SimGateway, SimWorker } from './processes.fixture.ts';
import { createProvider, type SimProvider } from './provider.fixture.ts';
import type { Owners, StoreClient } from './remote-engine.fixture.ts';
import { createSharedStore, type SharedStore } from './shared-store.fixture.ts';
import type { VirtualTime } from './virtual-time.fixture.ts';
import type { World } from './world.fixture.ts';

/** Everything of one run. */
export interface Deployment {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly world: World;
  readonly snapshots: ReadonlyMap<string, OrganizationSnapshot>;
  readonly store: SharedStore;
  readonly ledger: LedgerStore;
  readonly provider: SimProvider;
  readonly judge: Judge;
  readonly owners: Owners;
  readonly log: Log;
  /** By machine; a process that is replaced leaves its place to the next. */
  readonly gateways: Map<string, SimGateway>;
  readonly workers: Map<string, SimWorker>;
  /** How far the clock of a new process is off. */
  skewMs(): number;
  /** A UUIDv7 of this time. */
  newId(nowMs: number): string;
}

export function createDeployment(time: VirtualTime, random: Random, world: World): Deployment {
  const store = createSharedStore(time);
  const ledger = createLedgerStore(time.nowMs);
  const provider = createProvider(time, random, world.manners);
  const gateways = new Map<string, SimGateway>();
  const judge = createJudge({ time, store, ledger, provider, world });
  let serial = 0;
  return {
    time,
    random,
    world,
    snapshots: world.organizations,
    store,
    ledger,
    provider,
    judge,
    owners: createOwners({ random, world, gateways, judge }),
    log: createLog('error', { write: judge.logged }),
    gateways,
    workers: new Map(),
    skewMs: () => random.integer(-world.skewMs, world.skewMs),
    newId(nowMs) {
      serial += 1;
      const time48 = Math.floor(nowMs).toString(16).padStart(12, '0');
      const tail = `${serial.toString(16).padStart(6, '0')}${random.integer(0, 0xffffff).toString(16).padStart(6, '0')}`;
      return `${time48.slice(0, 8)}-${time48.slice(8)}-7000-8000-${tail}`;
    },
  };
}

/** Messages to waiters of other gateways: some are lost, some come twice. */
function createOwners({
  random,
  world,
  gateways,
  judge,
}: Pick<Deployment, 'random' | 'world' | 'gateways' | 'judge'>): Owners {
  const clients = new Map<string, StoreClient>();
  const chance = (percent: number) => percent > 0 && random.integer(1, 100) <= percent;
  return {
    asked: (operationId, client) => void clients.set(operationId, client),
    publish({ releases, storeMs }, caller) {
      for (const [operationId, release] of releases) {
        const client = clients.get(operationId);
        if (client === undefined || client === caller) continue;
        if (chance(world.losesWakes)) {
          judge.seen().unheard.add(operationId);
          continue;
        }
        const owner = [...gateways.values()].find((each) => each.client === client);
        const tell = () =>
          owner?.links.store.tell(`release ${operationId}`, () =>
            client.woken(operationId, release, storeMs),
          );
        tell();
        if (chance(world.repeatsWakes)) tell();
      }
    },
  };
}
