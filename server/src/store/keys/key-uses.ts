import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../kit/clock.ts';
import type { Database } from '../postgres/schema.ts';
import type { StoreLog } from '../store-log.ts';
import type { HeldKey } from './held-keys.ts';

export interface KeyUsesOptions {
  readonly db: Kysely<Database>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: StoreLog;
  readonly flushIntervalMs?: number;
  /** Uses within this time of the last known one are not written: `last_used_at` has this precision. */
  readonly precisionMs?: number;
  /** Keys whose use waits to be written. Beyond this, further keys are not noted. */
  readonly keysMax?: number;
}

/** When keys were last used, written in batches and never per request. */
export interface KeyUses {
  note(key: Pick<HeldKey, 'organizationId' | 'id' | 'lastUsedAtMs'>): void;
  /** Writes what was noted. Never throws: failed writes are retried. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the rest. */
  stop(): Promise<void>;
}

interface Use {
  readonly organizationId: string;
  readonly keyId: string;
  readonly atMs: number;
  /** How often it was skipped because another transaction held the row. */
  readonly deferred: number;
}

const FLUSH_INTERVAL_MS = 10_000;
const PRECISION_MS = 60_000;
const KEYS_MAX = 50_000;
/** Well below the statement timeout. */
const KEYS_PER_STATEMENT = 5_000;
const DEFERRALS_MAX = 3;

export function createKeyUses(options: KeyUsesOptions): KeyUses {
  const { db, clock, log, precisionMs = PRECISION_MS, keysMax = KEYS_MAX } = options;
  let uses = new Map<string, Use>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  function keep(use: Use): void {
    const later = uses.get(use.keyId);
    if (later === undefined && uses.size < keysMax) uses.set(use.keyId, use);
  }

  async function write(batch: readonly Use[]): Promise<void> {
    const written = await writeUses(db, batch, precisionMs);
    for (const use of batch) {
      const deferred = use.deferred + 1;
      if (!written.has(use.keyId) && deferred <= DEFERRALS_MAX) keep({ ...use, deferred });
    }
  }

  async function flushAll(): Promise<void> {
    const pending = [...uses.values()];
    uses = new Map();
    for (let from = 0; from < pending.length; from += KEYS_PER_STATEMENT) {
      const batch = pending.slice(from, from + KEYS_PER_STATEMENT);
      try {
        await write(batch);
      } catch (error) {
        log.warn({ err: error, keys: pending.length - from }, 'uses of keys were not written; later again');
        for (const use of pending.slice(from)) keep(use);
        return;
      }
    }
  }

  async function flush(): Promise<void> {
    await flushing;
    flushing = flushAll().finally(() => {
      flushing = undefined;
    });
    await flushing;
  }

  return {
    note(key) {
      const atMs = clock.nowMs();
      if (atMs - key.lastUsedAtMs < precisionMs) return;
      if (uses.size >= keysMax && !uses.has(key.id)) return;
      key.lastUsedAtMs = atMs;
      uses.set(key.id, { organizationId: key.organizationId, keyId: key.id, atMs, deferred: 0 });
    },
    flush,
    start() {
      timer ??= setInterval(() => void flush(), options.flushIntervalMs ?? FLUSH_INTERVAL_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/**
 * Returns the keys that need no further writing. Gateways and management write the same rows, so locked rows are skipped
 * rather than waited for, and no two writers can deadlock.
 */
async function writeUses(
  db: Kysely<Database>,
  batch: readonly Use[],
  precisionMs: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    with used as (
      select key.organization_id, key.id, use.at, key.last_used_at
      from unnest(
        ${batch.map(({ organizationId }) => organizationId)}::uuid[],
        ${batch.map(({ keyId }) => keyId)}::uuid[],
        ${batch.map(({ atMs }) => new Date(atMs).toISOString())}::timestamptz[]
      ) as use (organization_id, id, at)
      join api_keys key on key.organization_id = use.organization_id and key.id = use.id
      for no key update of key skip locked
    ), written as (
      update api_keys key set last_used_at = used.at
      from used
      where key.organization_id = used.organization_id and key.id = used.id
        and (used.last_used_at is null or used.last_used_at < used.at - make_interval(secs => ${precisionMs / 2_000}))
    )
    select id from used`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
