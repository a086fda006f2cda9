import type { Clock } from '../kit/clock.ts';
import type { SettleAsk } from './engine.ts';
import type { LiveOperation } from './live-operations.ts';

export interface KeptSettlement {
  readonly settlement: SettleAsk;
  readonly operation: LiveOperation;
  readonly shard: string;
  /** When it was sent to the engine, which took it; null before. Monotonic. */
  settledMs: number | null;
  /** Null: not sent yet. */
  sending: Promise<void> | null;
  /** It may have a lease that was written again, which only its settlement ends. */
  isRestored?: boolean;
}

export interface KeptSettlements {
  add(each: KeptSettlement): void;
  delete(each: KeptSettlement): void;
  of(shard: string): KeptSettlement[];
  all(): Iterable<KeptSettlement>;
  /** Forgets what the ledger has by now. */
  forgetPosted(): Promise<void>;
}

/** Some seconds of traffic wait for the ledger; an outage of it may fill this. Then the oldest are forgotten. */
const ENTRIES_MAX = 20_000;
const CHARACTERS_MAX = 64_000_000;
const IDS_PER_READ = 1_000;
/** A record that the ledger refuses never arrives there. */
const KEPT_MS_MAX = 600_000;

/** What this process settled and the ledger may not have yet: the store may lose it on the way. Bounded. */
export function createKeptSettlements(deps: {
  readonly clock: Clock;
  readonly posted?: (operationIds: readonly string[]) => Promise<ReadonlySet<string>>;
}): KeptSettlements {
  const kept = new Map<string, KeptSettlement>();
  let characters = 0;

  function remove(each: KeptSettlement): void {
    if (kept.delete(each.settlement.operationId)) characters -= charactersOf(each);
  }

  return {
    add(each) {
      kept.set(each.settlement.operationId, each);
      characters += charactersOf(each);
      for (const oldest of kept.values()) {
        if (kept.size <= ENTRIES_MAX && characters <= CHARACTERS_MAX) break;
        remove(oldest);
      }
    },
    delete: remove,
    of: (shard) => [...kept.values()].filter((each) => each.shard === shard),
    all: () => kept.values(),
    async forgetPosted() {
      if (deps.posted === undefined) return;
      const tooOldMs = deps.clock.monotonicMs() - KEPT_MS_MAX;
      for (const each of kept.values()) if ((each.settledMs ?? tooOldMs) < tooOldMs) remove(each);
      const ids = [...kept.keys()];
      for (let from = 0; from < ids.length; from += IDS_PER_READ) {
        const posted = await deps.posted(ids.slice(from, from + IDS_PER_READ));
        for (const operationId of posted) {
          const each = kept.get(operationId);
          if (each !== undefined && each.isRestored !== true) remove(each);
        }
        // The ledger is behind: it has none of the later ones either.
        if (posted.size === 0) return;
      }
    },
  };
}

function charactersOf({ settlement, operation }: KeptSettlement): number {
  return settlement.record.length + operation.ask.draft.length;
}
