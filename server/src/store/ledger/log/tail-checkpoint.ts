/**
 * The order in which the tail tells requests: that of the transactions which recorded them, and of ids within one. It is not
 * the order of arrival, since a request that arrived earlier may be recorded later, nor that in which transactions commit.
 * What makes it safe is that the tail tells only what transactions recorded that are older than every one still open. No row
 * can turn up among those any more, so what was told is a prefix of the order: nothing in it is missing and nothing
 * beyond it was told. One request id is therefore enough to go on from, in any process.
 */
export interface Position {
  /** The transaction that recorded it. */
  readonly xid: number;
  readonly requestId: string;
}

/** What PostgreSQL says of itself in the same statement that reads rows. */
export interface LedgerMoment {
  readonly atMs: number;
  /** Every transaction below has ended, or has been open for too long to be one of the ledger's. */
  readonly endedBelowXid: number;
  /** Those from this one on had not begun to write. */
  readonly nextXid: number;
}

/** How far somebody has been told, and where to look for what comes next. */
export interface Checkpoint {
  readonly told: Position;
  /** Whatever comes after was settled no earlier. */
  readonly sinceMs: number;
  /** The moments of late, oldest first. */
  readonly moments: readonly Pick<LedgerMoment, 'atMs' | 'nextXid'>[];
}

/**
 * Rows are found by `settled_at`, which the worker stamps shortly before its transaction begins to write: the two may be this
 * far apart, differences between clocks included.
 */
const STAMPED_BEFORE_MS = 30_000;
/**
 * No transaction of the ledger stays open for this long: its statements are cut after seconds. One that does is somebody
 * else's, in this database or another of the same server, and must not hold the tail back for ever.
 */
const OPEN_MS_MAX = 60_000;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Tells what is recorded from this moment on. */
export function checkpointAt(moment: LedgerMoment): Checkpoint {
  return {
    told: { xid: moment.endedBelowXid, requestId: NO_ID },
    sinceMs: moment.atMs - OPEN_MS_MAX - STAMPED_BEFORE_MS,
    moments: [moment],
  };
}

/** Tells what was recorded after this request. */
export function checkpointAfter(told: Position, settledAtMs: number): Checkpoint {
  return { told, sinceMs: settledAtMs - STAMPED_BEFORE_MS, moments: [] };
}

/** After rows were told; `last` is the last of them when there may be more, else null. */
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
  // What comes after was recorded by transactions that began to write after the last moment at which none of them had.
  const begunMs = last?.settledAtMs ?? moments.findLast(({ nextXid }) => nextXid <= told.xid)?.atMs ?? 0;
  return { told, sinceMs: Math.max(before.sinceMs, begunMs - STAMPED_BEFORE_MS), moments };
}

/** Open transactions below this one are not of the ledger. */
export function foreignBelowXid({ moments }: Checkpoint): number {
  const nowMs = moments.at(-1)?.atMs ?? 0;
  return moments.findLast(({ atMs }) => atMs <= nowMs - OPEN_MS_MAX)?.nextXid ?? 0;
}

/** Negative when the first comes earlier. */
export function comparePositions(one: Position, other: Position): number {
  if (one.xid !== other.xid) return one.xid - other.xid;
  return one.requestId < other.requestId ? -1 : Number(one.requestId > other.requestId);
}
