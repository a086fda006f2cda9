import type { Charge } from '../../domain/limits/limit.ts';
import type { Connection } from './connection.fixture.ts';
import type { LedgerStore } from './ledger-store.fixture.ts';
import type { SimProvider } from './provider.fixture.ts';
import type { SharedStore } from './shared-store.fixture.ts';
import type { SimProcess, VirtualTime } from './virtual-time.fixture.ts';
import type { World } from './world.fixture.ts';

export const SLOW_LINK = 'a slow link';
/** How much longer a message takes over it. */
export const SLOW_MS_MAX = 150;

/** A request as its client and those who judge know it. */
export interface Arrival {
  readonly requestId: string;
  readonly organizationId: string;
  readonly atMs: number;
  readonly by: SimProcess;
  readonly connection: Connection;
  endedMs: number | null;
}

/** A place in line with a firm promise. */
interface GivenPromise {
  readonly operationId: string;
  readonly askedMs: number;
  readonly deadlineMs: number;
}

/** What was seen during a run. */
export interface Seen {
  readonly arrivals: Map<string, Arrival>;
  /** Operation → endpoint → what an attempt there is charged. */
  readonly charges: Map<string, Map<string, readonly Charge[]>>;
  readonly promises: GivenPromise[];
  /** Waiters that never heard of their release. */
  readonly unheard: Set<string>;
  readonly faults: { readonly name: string; readonly fromMs: number; readonly toMs: number }[];
  /** When the store lost something. */
  readonly lossesMs: number[];
}

/** How long a loss is rebuilt: gateways hear of it within a second, the shard is then closed, and reports are tried again. */
const REBUILT_MS = 10_000;

/**
 * Whether a loss met another fault. Gateways and the ledger together have everything that the store loses, so what one of them forgets
 * too, or cannot tell in time, is not counted: no one has it.
 */
export function isLossAlone({ lossesMs, faults }: Seen): boolean {
  return lossesMs.every(
    (lostMs) =>
      faults.filter(({ fromMs, toMs }) => fromMs <= lostMs + REBUILT_MS && toMs >= lostMs - REBUILT_MS)
        .length <= 1,
  );
}

export interface JudgeDeps {
  readonly time: VirtualTime;
  readonly store: SharedStore;
  readonly ledger: LedgerStore;
  readonly provider: SimProvider;
  readonly world: World;
}
