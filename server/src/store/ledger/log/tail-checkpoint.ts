/**
 * The order of the tail: by the transaction that recorded a request, then by id. It differs from the order of arrival,
 * since an earlier request may be recorded later, and from the order of commits. The tail shows only rows of transactions
 * older than every open one. No further row can appear among those, so what was shown is a prefix of the order: nothing in
 * it is missing, and nothing beyond it was shown. One request id is therefore enough to continue from, in any process.
 */
export interface Position {
  /** The transaction that recorded it. */
  readonly xid: number;
  readonly requestId: string;
}

/** PostgreSQL's state in the same statement that reads rows. */
export interface LedgerMoment {
  readonly atMs: number;
  /** Every transaction below has ended, or has been open too long to be one of the ledger's. */
  readonly endedBelowXid: number;
  /** Transactions from this one on had not begun to write. */
  readonly nextXid: number;
}

/** How far a reader has read, and where to look for what comes next. */
export interface Checkpoint {
  readonly told: Position;
  /** Later rows were settled no earlier than this. */
  readonly sinceMs: number;
  /** The recent moments, oldest first. */
  readonly moments: readonly Pick<LedgerMoment, 'atMs' | 'nextXid'>[];
}

/**
 * Rows are found by `settled_at`, which the worker sets shortly before its transaction begins to write. The two differ by
 * at most this, including clock differences.
 */
const STAMPED_BEFORE_MS = 30_000;
/**
 * No ledger transaction stays open this long: its statements time out after seconds. A longer one belongs to another
 * program or database of the same server and must not hold the tail back.
 */
const OPEN_MS_MAX = 60_000;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Starts with what is recorded from this moment on. */
export function checkpointAt(moment: LedgerMoment): Checkpoint {
  return {
    told: { xid: moment.endedBelowXid, requestId: NO_ID },
    sinceMs: moment.atMs - OPEN_MS_MAX - STAMPED_BEFORE_MS,
    moments: [moment],
  };
}

/** Starts after this request. */
export function checkpointAfter(told: Position, settledAtMs: number): Checkpoint {
  return { told, sinceMs: settledAtMs - STAMPED_BEFORE_MS, moments: [] };
}

/** After rows were read; `last` is the last of them when there may be more, else null. */
export function advance(
  before: Checkpoint,
  moment: LedgerMoment,
  last: (Position & { readonly settledAtMs: number }) | null,
): Checkpoint {
  const moments = [...before.moments.filter(({ atMs }) => atMs > moment.atMs - 2 * OPEN_MS_MAX), moment];
  const told =
    last === null
      ? { xid: moment.endedBelowXid, requestId: NO_ID }
      : { xid: last.xid, requestId: last.requestId };
  // Later rows were recorded by transactions that began to write after the last moment at which none of them had.
  const begunMs = last?.settledAtMs ?? moments.findLast(({ nextXid }) => nextXid <= told.xid)?.atMs ?? 0;
  return { told, sinceMs: Math.max(before.sinceMs, begunMs - STAMPED_BEFORE_MS), moments };
}

/** Open transactions below this one do not belong to the ledger. */
export function foreignBelowXid({ moments }: Checkpoint): number {
  const nowMs = moments.at(-1)?.atMs ?? 0;
  return moments.findLast(({ atMs }) => atMs <= nowMs - OPEN_MS_MAX)?.nextXid ?? 0;
}

/** Negative when the first comes earlier. */
export function comparePositions(one: Position, other: Position): number {
  if (one.xid !== other.xid) return one.xid - other.xid;
  return one.requestId < other.requestId ? -1 : Number(one.requestId > other.requestId);
}
