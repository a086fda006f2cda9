import { sql } from 'kysely';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { Log } from '../kit/log.ts';
import {
  type OwnedLimit,
  type PolicyPlace,
  readCalendarPolicies,
} from '../store/configuration/calendar-policies.ts';
import { type CompareDeps, type ComparedWindow, compareWindows } from './compare-windows.ts';

const EVERY_MS = 300_000;
const POLICIES_PER_RUN = 500;
const POLICIES_AT_ONCE = 50;
const DRIFTS_MAX = 10_000;
/** Any number will do, as long as nobody else has it. */
const LOCK_ID = 7_235_419_016;
const NIL = '00000000-0000-0000-0000-000000000000';
const BEGINNING: PolicyPlace = { organizationId: NIL, policyId: NIL };

export interface ReconcileDeps extends CompareDeps {
  readonly log: Log;
  readonly everyMs?: number;
  readonly policiesPerRun?: number;
}

export interface ReconcileState {
  /** Windows that were compared in the last run to the end, and those of which not everything could be said. */
  readonly checked: number;
  readonly unsettled: number;
  /** Windows that differed when they were last compared. */
  readonly drift: number;
  /** The largest of these differences as a share of what the ledger holds. */
  readonly driftRatioMax: number;
  /** Null before the first run. */
  readonly finishedAtMs: number | null;
}

export interface Reconciliation {
  /** From memory. */
  state(): ReconcileState;
  /** Answers whether it was this process's turn. */
  runOnce(): Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Compares what limits have counted with what the ledger holds: the next so many policies every few minutes, all of them in
 * turn, one worker at a time. What differs is said and counted; nothing is changed, because nobody knows which of the two is right.
 */
export function startReconciliation(deps: ReconcileDeps): Reconciliation {
  const { clock, log, everyMs = EVERY_MS, policiesPerRun = POLICIES_PER_RUN } = deps;
  const drifts = createDrifts();
  let after = BEGINNING;
  let last = { checked: 0, unsettled: 0, finishedAtMs: null as number | null };
  let running: Promise<boolean> | null = null;
  let stopping = false;

  function note(organizationId: string, { limit, startMs, used, ledger, verdict }: ComparedWindow): void {
    drifts.note(`${organizationId} ${limit.id} ${startMs}`, verdict, ratioOf(used, ledger));
    if (verdict !== 'drifted') return;
    log.warn(
      {
        organization_id: organizationId,
        policy_id: limit.id,
        metric: limit.metric,
        period: limit.period,
        window_start: new Date(startMs).toISOString(),
        counted: used,
        ledger,
      },
      'a limit has counted something else than the ledger holds',
    );
  }

  async function compare(tx: ReconcileDeps['db']): Promise<void> {
    const owned = await readCalendarPolicies(tx, after, policiesPerRun);
    let [checked, unsettled] = [0, 0];
    for (const { organizationId, limits } of inPortions(owned)) {
      if (stopping) return;
      for (const window of await compareWindows({ ...deps, db: tx }, organizationId, limits)) {
        checked += 1;
        if (window.verdict === 'unsettled') unsettled += 1;
        note(organizationId, window);
      }
    }
    const isEnd = owned.length < policiesPerRun;
    if (isEnd) drifts.endRound();
    after = isEnd ? BEGINNING : (owned.at(-1)?.place ?? BEGINNING);
    last = { checked, unsettled, finishedAtMs: clock.nowMs() };
  }

  async function run(): Promise<boolean> {
    try {
      // Every statement sees what is committed when it begins; the transaction is there for the lock alone.
      return await deps.db.transaction().execute(async (tx) => {
        const lock = await sql<{
          taken: boolean;
        }>`select pg_try_advisory_xact_lock(${LOCK_ID}) as taken`.execute(tx);
        if (lock.rows[0]?.taken !== true) return false;
        await compare(tx);
        return true;
      });
    } catch (error) {
      log.warn({ err: error }, 'limits could not be compared with the ledger; it is tried again');
      return false;
    }
  }

  function runOnce(): Promise<boolean> {
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  }

  const timer = setInterval(() => void runOnce(), everyMs);
  timer.unref();
  return {
    state: () => ({ ...last, drift: drifts.count(), driftRatioMax: drifts.ratioMax() }),
    runOnce,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Which windows differed when they were last compared. Those that are not met in a whole round are forgotten. */
function createDrifts() {
  let earlier = new Map<string, number>();
  let current = new Map<string, number>();
  const all = () => [...new Map([...earlier, ...current]).values()];
  return {
    note(window: string, verdict: ComparedWindow['verdict'], ratio: number) {
      const before = earlier.get(window);
      earlier.delete(window);
      // Of a window that cannot be judged just now, what was found stays.
      const found = verdict === 'drifted' ? ratio : verdict === 'unsettled' ? before : undefined;
      if (found !== undefined && current.size < DRIFTS_MAX) current.set(window, found);
    },
    endRound() {
      earlier = current;
      current = new Map();
    },
    count: () => all().length,
    ratioMax: () => Math.max(0, ...all()),
  };
}

function ratioOf(used: number, ledger: number): number {
  return Math.abs(used - ledger) / Math.max(1, ledger);
}

interface Portion {
  readonly organizationId: string;
  readonly limits: AppliedLimit[];
}

/** Limits of one organization together, so many at once. */
function inPortions(owned: readonly OwnedLimit[]): Portion[] {
  const portions: Portion[] = [];
  for (const { place, limit } of owned) {
    const last = portions.at(-1);
    if (last?.organizationId === place.organizationId && last.limits.length < POLICIES_AT_ONCE)
      last.limits.push(limit);
    else portions.push({ organizationId: place.organizationId, limits: [limit] });
  }
  return portions;
}
