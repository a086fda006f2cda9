import pg from 'pg';
import { type Backoff, backoffMs } from '../../kit/backoff.ts';
import { reasonOf } from '../store-health.ts';
import type { StoreLog } from '../store-log.ts';

export interface Subscription {
  connected(): boolean;
  close(): Promise<void>;
}

const RETRY: Backoff = { minMs: 500, maxMs: 30_000 };

/**
 * Calls `onHint` for every notification on a channel, and once after each connect, because PostgreSQL keeps no
 * notifications for a disconnected listener. It is only a hint: a lost connection loses nothing, and it is reconnected
 * while the subscription is open.
 */
export function listen(
  options: { connection: pg.ClientConfig; channel: string; log: StoreLog; random?: () => number },
  onHint: () => void,
): Subscription {
  const { connection, channel, log, random = Math.random } = options;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let connected = false;
  let closed = false;
  let failures = 0;

  function retry(error: unknown): void {
    connected = false;
    if (closed) return;
    if (failures === 0)
      log.warn({ reason: reasonOf(error), channel }, 'PostgreSQL notifications lost; polling continues');
    failures += 1;
    timer = setTimeout(connect, backoffMs(RETRY, failures, random));
    timer.unref();
  }

  function connect(): void {
    const current = new pg.Client(connection);
    client = current;
    let over = false;
    const fail = (error: unknown) => {
      if (over) return;
      over = true;
      current.end().catch(() => undefined);
      retry(error);
    };
    current.on('error', fail);
    current.on('end', () => fail(new Error('connection ended')));
    current.on('notification', onHint);
    current
      .connect()
      .then(() => current.query(`listen ${pg.escapeIdentifier(channel)}`))
      .then(() => {
        failures = 0;
        connected = true;
        onHint();
      }, fail);
  }

  connect();
  return {
    connected: () => connected,
    async close() {
      closed = true;
      connected = false;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
