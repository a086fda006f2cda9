import { sql } from 'kysely';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { Log } from '../kit/log.ts';
import {
  type OwnedLimit,
  type PolicyPlace,
  readCalendarPolicies,
  readNewCounters,
} from '../store/configuration/calendar-policies.ts';
import { type CompareDeps, type ComparedWindow, compareWindows } from './compare-windows.ts';

const EVERY_MS = 300_000;
/** Requests that ran when a counter started are missing from it until they are in the ledger. */
const NEW_EVERY_MS = 15_000;
const NEW_FOR_MS = 900_000;
const POLICIES_PER_RUN = 500;
const POLICIES_PER_QUERY = 50;
const DRIFTS_MAX = 10_000;
/** Any number that no other lock uses. */
const LOCK_ID = 7_235_419_016;
const NIL = '00000000-0000-0000-0000-000000000000';
const BEGINNING: PolicyPlace = { organizationId: NIL, policyId: NIL };

export interface ReconcileDeps extends CompareDeps {
  readonly log: Log;
  /** Changes windows of the limits engine; those that were started or recounted since their mark was read stay as they are. */
  readonly recount: (
    organizationId: string,
    recounts: readonly {
      readonly policy: AppliedLimit;
      readonly startMs: number;
      readonly amount: number;
      readonly mark: number;
    }[],
  ) => Promise<number>;
  readonly everyMs?: number;
  readonly policiesPerRun?: number;
}

export interface ReconcileState {
  /** Windows that the last finished run compared, and those among them that could not be judged. */
  readonly checked: number;
  readonly unsettled: number;
  /** How long the oldest of these could not be judged. */
  readonly unsettledMs: number;
  /** Counts that this process has corrected since it started. */
  readonly corrected: number;
  /** Windows that differed when they were last compared, and could not be corrected then. */
  readonly drift: number;
  /** The largest of these differences, as a share of the ledger's value. */
  readonly driftRatioMax: number;
  /** Null before the first run. */
  readonly finishedAtMs: number | null;
}

export interface Reconciliation {
  /** From memory. */
  state(): ReconcileState;
  /** Answers false when another process was comparing. */
  runOnce(): Promise<boolean>;
  /** Compares the limits whose counters are new. */
  runNew(): Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Compares what limits have counted with the ledger, and corrects the count where it differs: the next `policiesPerRun` policies
 * per run, all of them in turn, and more often those whose counters are new; in one worker at a time.
 *
 * The correction is the difference, added in one step to whatever the window is by then, so no reservation is lost. Under load
 * it only ever adds: a count below the ledger that was read before it has missed at least the difference, and requests in
 * flight can hide a part of it until a later run. A count above the ledger is corrected when the organization is idle.
 */
export function startReconciliation(deps: ReconcileDeps): Reconciliation {
  const { everyMs = EVERY_MS } = deps;
  const comparison = createComparison(deps);
  let last: Promise<boolean> = Promise.resolve(true);

  /** One after the other. */
  function run(compare: (tx: Transaction) => Promise<void>): Promise<boolean> {
    last = last.then(() => runLocked(deps, compare));
    return last;
  }
  const runOnce = () => run(comparison.run);
  const runNew = () => run(comparison.runNew);

  const timers = [
    setInterval(() => void runOnce(), everyMs),
    setInterval(() => void runNew(), Math.min(everyMs, NEW_EVERY_MS)),
  ];
  for (const timer of timers) timer.unref();
  return {
    state: comparison.state,
    runOnce,
    runNew,
    async stop() {
      comparison.stop();
      for (const timer of timers) clearInterval(timer);
      await last;
    },
  };
}

type Transaction = ReconcileDeps['db'];

/** Answers false when another worker is comparing, and after a failure. */
async function runLocked(
  { db, log }: Pick<ReconcileDeps, 'db' | 'log'>,
  compare: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  try {
    // The transaction only holds the lock: each statement sees what is committed when it starts.
    return await db.transaction().execute(async (tx) => {
      const lock = await sql<{
        taken: boolean;
      }>`select pg_try_advisory_xact_lock(${LOCK_ID}) as taken`.execute(tx);
      if (lock.rows[0]?.taken !== true) return false;
      await compare(tx);
      return true;
    });
  } catch (error) {
    log.warn({ err: error }, 'could not compare limits with the ledger; will retry');
    return false;
  }
}

type LastRun = Pick<ReconcileState, 'checked' | 'unsettled' | 'finishedAtMs'>;
/** When windows were first found that cannot be judged. */
type Unsettled = Map<string, number>;

/** Goes through the policies, and remembers where it is and what differed. */
function createComparison(deps: ReconcileDeps) {
  const { clock, log, policiesPerRun = POLICIES_PER_RUN } = deps;
  const drifts = createDrifts();
  const unsettled: Unsettled = new Map();
  let after = BEGINNING;
  let last: LastRun = { checked: 0, unsettled: 0, finishedAtMs: null };
  let corrected = 0;
  let isStopping = false;

  function note(organizationId: string, window: ComparedWindow, isCorrected: boolean): void {
    const { used, ledger } = window;
    const verdict = window.verdict === 'drifted' && isCorrected ? 'equal' : window.verdict;
    const key = keyOf(organizationId, window);
    drifts.note(key, verdict, ratioOf(used, ledger));
    if (verdict !== 'unsettled' && verdict !== 'missing') unsettled.delete(key);
    else if (!unsettled.has(key) && unsettled.size < DRIFTS_MAX) unsettled.set(key, clock.nowMs());
    if (window.verdict === 'drifted') logDrift(log, organizationId, window, isCorrected);
    if (window.verdict === 'missing') logMissing(log, organizationId, window);
  }

  async function compare(tx: Transaction, owned: readonly OwnedLimit[]): Promise<ComparedWindow[]> {
    const compared: ComparedWindow[] = [];
    for (const { organizationId, limits } of inPortions(owned)) {
      if (isStopping) break;
      const windows = await compareWindows({ ...deps, db: tx }, organizationId, limits, (window) =>
        unsettled.has(keyOf(organizationId, window)),
      );
      const drifted = windows.filter(({ verdict }) => verdict === 'drifted').length;
      const changed = await correct(deps, organizationId, windows);
      corrected += changed;
      for (const window of windows) note(organizationId, window, changed === drifted);
      compared.push(...windows);
    }
    return compared;
  }

  return {
    async runNew(tx: Transaction): Promise<void> {
      await compare(tx, await readNewCounters(tx, NEW_FOR_MS, policiesPerRun));
    },
    async run(tx: Transaction): Promise<void> {
      const owned = await readCalendarPolicies(tx, after, policiesPerRun);
      const compared = await compare(tx, owned);
      if (isStopping) return;
      const checked = compared.length;
      const inDoubt = compared.filter(({ verdict }) => verdict === 'unsettled').length;
      for (const key of unsettled.keys()) if (isOver(key, clock.nowMs())) unsettled.delete(key);
      const isEnd = owned.length < policiesPerRun;
      if (isEnd) drifts.endRound();
      after = isEnd ? BEGINNING : (owned.at(-1)?.place ?? BEGINNING);
      last = { checked, unsettled: inDoubt, finishedAtMs: clock.nowMs() };
    },
    state: (): ReconcileState => ({
      ...last,
      corrected,
      unsettledMs: Math.max(0, ...[...unsettled.values()].map((sinceMs) => clock.nowMs() - sinceMs)),
      drift: drifts.count(),
      driftRatioMax: drifts.ratioMax(),
    }),
    stop() {
      isStopping = true;
    },
  };
}

/** Returns how many were. A window that was started or recounted meanwhile stays as it is, and is compared again. */
async function correct(
  { recount }: Pick<ReconcileDeps, 'recount'>,
  organizationId: string,
  windows: readonly ComparedWindow[],
): Promise<number> {
  const recounts = windows.flatMap(({ limit, startMs, used, expected, mark, verdict }) =>
    verdict === 'drifted' && mark !== null ? [{ policy: limit, startMs, amount: expected - used, mark }] : [],
  );
  return recounts.length > 0 ? recount(organizationId, recounts) : 0;
}

function keyOf(
  organizationId: string,
  { limit, startMs }: Pick<ComparedWindow, 'limit' | 'startMs'>,
): string {
  return `${organizationId} ${limit.id} ${startMs}`;
}

/** No calendar window is longer. */
const WINDOW_MS_MAX = 32 * 86_400_000;

function isOver(key: string, nowMs: number): boolean {
  return nowMs - Number(key.slice(key.lastIndexOf(' ') + 1)) > WINDOW_MS_MAX;
}

function logMissing(log: Log, organizationId: string, window: ComparedWindow): void {
  const message =
    'the ledger has less than a limit has counted, by more than what is in flight: rows are missing, as after a restored backup; Relay corrects the count when the organization is idle';
  log.warn(fieldsOf(organizationId, window), message);
}

function logDrift(log: Log, organizationId: string, window: ComparedWindow, isCorrected: boolean): void {
  log.warn(
    fieldsOf(organizationId, window),
    isCorrected
      ? 'a limit counter differed from the ledger and was corrected'
      : 'a limit counter differs from the ledger; will compare again',
  );
}

function fieldsOf(organizationId: string, { limit, startMs, used, ledger }: ComparedWindow) {
  return {
    organization_id: organizationId,
    policy_id: limit.id,
    metric: limit.metric,
    period: limit.period,
    window_start: new Date(startMs).toISOString(),
    counted: used,
    ledger,
  };
}

/** The windows that differed when they were last compared, and were not corrected. Windows that a full round does not meet are forgotten. */
function createDrifts() {
  let earlier = new Map<string, number>();
  let current = new Map<string, number>();
  const all = () => [...new Map([...earlier, ...current]).values()];
  return {
    note(window: string, verdict: ComparedWindow['verdict'], ratio: number) {
      const before = earlier.get(window);
      earlier.delete(window);
      // A window that cannot be judged now keeps its last result.
      const found =
        verdict === 'drifted' || verdict === 'missing' ? ratio : verdict === 'unsettled' ? before : undefined;
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

/** Groups limits by organization, `POLICIES_PER_QUERY` at most. */
function inPortions(owned: readonly OwnedLimit[]): Portion[] {
  const portions: Portion[] = [];
  for (const { place, limit } of owned) {
    const last = portions.at(-1);
    if (last?.organizationId === place.organizationId && last.limits.length < POLICIES_PER_QUERY)
      last.limits.push(limit);
    else portions.push({ organizationId: place.organizationId, limits: [limit] });
  }
  return portions;
}
