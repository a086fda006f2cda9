import type { Kysely } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { readTail, type TailBatch, type TailRow } from '../../store/ledger/log/read-tail.ts';
import {
  advance,
  type Checkpoint,
  comparePositions,
  type Position,
} from '../../store/ledger/log/tail-checkpoint.ts';
import type { Database } from '../../store/postgres/schema.ts';

const BATCH_ROWS = 1_000;
/**
 * Rows queued for a slow client. Beyond this, the client's tail reads the ledger by itself, at the client's
 * speed.
 */
const QUEUED_ROWS_MAX = 1_000;
const RETRY_MS = 2_000;
const CATCH_UP_MS = 50;

export interface TailOptions {
  readonly ofOrganization: (organizationId: string) => Kysely<Database>;
  readonly tickMs: number;
  /** Keep-alive interval for idle tails. */
  readonly heartbeatMs: number;
}

export interface Following {
  readonly organizationId: string;
  readonly from: Checkpoint;
  readonly matches: (row: TailRow) => boolean;
  readonly ended: AbortSignal;
}

export interface Tail {
  /** New rows, each once; an empty list as a keep-alive. Ends when the signal is aborted. */
  follow(following: Following): AsyncGenerator<readonly TailRow[]>;
  /** Organizations that are being read now. */
  followed(): number;
}

/** Tails that are up to date with an organization share one query per tick. */
interface Channel {
  readonly organizationId: string;
  readonly followers: Set<Follower>;
  at: Checkpoint;
}

interface Follower {
  /** How far this tail had read by itself before it joined the channel. */
  readonly joined: Checkpoint;
  readonly matches: (row: TailRow) => boolean;
  readonly queue: TailRow[];
  /** Where this tail continues by itself after its queue was full; null while it keeps up. */
  behind: Checkpoint | null;
  failure: unknown;
  wake: () => void;
}

export function createTail({ ofOrganization, tickMs, heartbeatMs }: TailOptions): Tail {
  const channels = new Map<string, Channel>();

  const read = (organizationId: string, at: Checkpoint) =>
    readBatch(ofOrganization(organizationId), organizationId, at);

  function channelOf(organizationId: string, at: Checkpoint): Channel {
    const known = channels.get(organizationId);
    if (known !== undefined) return known;
    const channel: Channel = { organizationId, followers: new Set(), at };
    channels.set(organizationId, channel);
    setTimeout(() => void tick(channel), tickMs);
    return channel;
  }

  async function tick(channel: Channel): Promise<void> {
    let delayMs = tickMs;
    if (channel.followers.size > 0) {
      try {
        const { rows, next } = await read(channel.organizationId, channel.at);
        for (const follower of channel.followers) offer(channel, follower, rows);
        channel.at = next;
        if (rows.length >= BATCH_ROWS) delayMs = 0;
      } catch (error) {
        if (isAway(error)) delayMs = RETRY_MS;
        else fail(channel, error);
      }
    }
    if (channel.followers.size > 0) setTimeout(() => void tick(channel), delayMs);
    else channels.delete(channel.organizationId);
  }

  return {
    followed: () => channels.size,
    async *follow({ organizationId, from, matches, ended }) {
      let at = from;
      while (!ended.aborted) {
        at = informed(at, channels.get(organizationId)?.at);
        const batch = await read(organizationId, at).catch((error: unknown) => {
          if (isAway(error)) return null;
          throw error;
        });
        if (batch === null) {
          yield [];
          await pause(RETRY_MS, ended);
          continue;
        }
        at = batch.next;
        const found = batch.rows.filter(matches);
        if (found.length > 0) yield found;
        if (batch.rows.length >= BATCH_ROWS) continue;
        const channel = channelOf(organizationId, at);
        if (comparePositions(channel.at.told, at.told) > 0) {
          // The channel is ahead. Reads again, so that no row between the two is missed.
          await pause(CATCH_UP_MS, ended);
          continue;
        }
        const follower = join(channel, at, matches);
        try {
          yield* take(follower, ended, heartbeatMs);
        } finally {
          channel.followers.delete(follower);
        }
        if (follower.behind === null) return;
        at = follower.behind;
      }
    },
  };
}

async function readBatch(
  db: Kysely<Database>,
  organizationId: string,
  at: Checkpoint,
): Promise<TailBatch & { next: Checkpoint }> {
  const batch = await readTail(db, organizationId, at, BATCH_ROWS);
  const last = batch.rows.length < BATCH_ROWS ? undefined : batch.rows.at(-1);
  const position =
    last === undefined ? null : { ...positionOf(last), settledAtMs: last.settled_at.getTime() };
  return { ...batch, next: advance(at, batch.moment, position) };
}

/**
 * Uses the channel's moments if they reach further back: they are facts about the database, and older ones
 * identify more transactions that do not belong to the ledger and must not delay this tail.
 */
function informed(at: Checkpoint, other: Checkpoint | undefined): Checkpoint {
  const since = (checkpoint: Checkpoint) => checkpoint.moments[0]?.atMs ?? Number.POSITIVE_INFINITY;
  return other !== undefined && since(other) < since(at) ? { ...at, moments: other.moments } : at;
}

function join(channel: Channel, joined: Checkpoint, matches: (row: TailRow) => boolean): Follower {
  const follower: Follower = {
    joined,
    matches,
    queue: [],
    behind: null,
    failure: undefined,
    wake: () => undefined,
  };
  channel.followers.add(follower);
  return follower;
}

function offer(channel: Channel, follower: Follower, rows: readonly TailRow[]): void {
  const { joined, matches, queue } = follower;
  const found = rows.filter((row) => comparePositions(positionOf(row), joined.told) > 0 && matches(row));
  if (queue.length + found.length > QUEUED_ROWS_MAX) {
    // Everything before this batch is queued; the tail reads this batch again by itself.
    follower.behind = comparePositions(channel.at.told, joined.told) > 0 ? channel.at : joined;
    channel.followers.delete(follower);
  } else queue.push(...found);
  if (found.length > 0) follower.wake();
}

function fail(channel: Channel, error: unknown): void {
  for (const follower of channel.followers) {
    follower.failure = error;
    follower.wake();
  }
  channel.followers.clear();
}

/** Yields queued rows until the signal is aborted or the tail must continue by itself. */
async function* take(
  follower: Follower,
  ended: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<readonly TailRow[]> {
  const wake = () => follower.wake();
  ended.addEventListener('abort', wake);
  try {
    while (!ended.aborted) {
      if (follower.failure !== undefined) throw follower.failure;
      if (follower.queue.length > 0) yield follower.queue.splice(0);
      else if (follower.behind !== null) return;
      else if (!(await isWoken(follower, heartbeatMs))) yield [];
    }
  } finally {
    ended.removeEventListener('abort', wake);
  }
}

function isWoken(follower: Follower, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs);
    follower.wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
}

function pause(durationMs: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      ended.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, durationMs);
    ended.addEventListener('abort', over);
  });
}

function positionOf({ xid, request_id }: TailRow): Position {
  return { xid, requestId: request_id };
}

function isAway(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}
