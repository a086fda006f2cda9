import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientConnection, openConnection } from './client-connection.ts';

/** What became of the requests that were sent in one slice. */
export interface OfferedSlice {
  readonly sent: number;
  /** Answered with 200. */
  readonly served: number;
  /** From the moment when each was due to its last byte. */
  readonly servedMs: readonly number[];
  readonly refusedMs: readonly number[];
  readonly statuses: Readonly<Record<string, number>>;
}

export interface OfferedLoad {
  readonly port: number;
  readonly request: Buffer;
  readonly perSecond: number;
  readonly sliceMs: number;
}

const CONNECTIONS_MAX = 8_000;
const DRAIN_MS_MAX = 15_000;
/** Opened before the first request is due: a burst of new connections would measure the backlog of the listener. */
const OPENED_BEFORE_MAX = 400;

/** Sends at a rate of its own, however slow the answers are: clients that do not know of each other. */
export async function offerLoad({ port, request, perSecond, sliceMs }: OfferedLoad): Promise<OfferedSlice> {
  const [servedMs, refusedMs]: [number[], number[]] = [[], []];
  const statuses: Record<string, number> = {};
  const dueMs = new Map<ClientConnection, number>();
  const all: ClientConnection[] = [];
  const free: ClientConnection[] = [];
  let failure: Error | null = null;
  let opening = 0;
  const events = {
    anyStatus: true,
    onResponse(connection: ClientConnection) {
      const tookMs = performance.now() - (dueMs.get(connection) ?? 0);
      const { status } = connection.reader;
      statuses[status] = (statuses[status] ?? 0) + 1;
      (status === 200 ? servedMs : refusedMs).push(tookMs);
      dueMs.delete(connection);
      free.push(connection);
    },
    onFailure(error: Error) {
      failure ??= error;
    },
  };
  async function sendOne(atMs: number): Promise<void> {
    let connection = free.pop();
    if (connection === undefined) {
      if (all.length + opening >= CONNECTIONS_MAX)
        throw new Error(`more than ${CONNECTIONS_MAX} requests are open`);
      opening += 1;
      connection = await openConnection(port, events);
      opening -= 1;
      all.push(connection);
    }
    dueMs.set(connection, atMs);
    connection.send(request);
  }
  const sending: Promise<void>[] = [];
  try {
    for (let count = 0; count < Math.min(OPENED_BEFORE_MAX, perSecond / 2); count += 1) {
      const connection = await openConnection(port, events);
      all.push(connection);
      free.push(connection);
    }
    const startMs = performance.now();
    for (let sent = 0; sent < (perSecond * sliceMs) / 1_000 && failure === null; ) {
      const due = Math.min(
        (perSecond * sliceMs) / 1_000,
        ((performance.now() - startMs) * perSecond) / 1_000,
      );
      for (; sent < due; sent += 1)
        sending.push(sendOne(startMs + (sent * 1_000) / perSecond).catch(events.onFailure));
      await sleep(1);
    }
    await Promise.all(sending);
    const endMs = performance.now() + DRAIN_MS_MAX;
    while (dueMs.size > 0 && failure === null && performance.now() < endMs) await sleep(5);
    if (failure !== null) throw failure;
    return { sent: sending.length, served: servedMs.length, servedMs, refusedMs, statuses };
  } finally {
    for (const connection of all) connection.close();
  }
}
