import { systemClock } from '../../kit/clock.ts';

/** The shards in use, known to all processes: sweeps and workers look at these only. */
export interface ActiveShards {
  /**
   * Call before a command that may leave a lease or usage in a shard, each time: it costs a lookup. Never fails. The index gets the
   * shard before the command is sent on the same connection, and again every few seconds of use.
   */
  use(prefix: string): void;
  /** Prefixes of the shards used in the last two minutes, by any process. While Redis does not answer, those known before. */
  list(): Promise<readonly string[]>;
}

type Run = (command: readonly string[], routingKey: string) => Promise<unknown>;

/** A sorted set of prefixes by the time of their last use, in seconds of the clock of Redis. */
const KEY = 'relay:shards';
/** Longer than a lease lives without its gateway, and than a dead worker keeps its entries. */
const ACTIVE_S = 120;
const NOTE_EVERY_MS = 5_000;
const RETRY_MS = 1_000;

const NOTE = `
local now = redis.call('TIME')[1]
for _, prefix in ipairs(ARGV) do redis.call('ZADD', KEYS[1], now, prefix) end`;
const LIST = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. redis.call('TIME')[1] - ARGV[1])
return redis.call('ZRANGE', KEYS[1], 0, -1)`;

/** Without timers: notes are sent with the use of shards, and once more after a failure. */
export function createActiveShards(run: Run): ActiveShards {
  /** Used since the last note of all, and in the time before it. Their number bounds both. */
  let used = new Set<string>();
  let usedBefore = new Set<string>();
  let notedAtMs = systemClock.monotonicMs();
  let retry: NodeJS.Timeout | null = null;
  let known: readonly string[] = [];

  function note(prefixes: readonly string[]): void {
    run(['EVAL', NOTE, '1', KEY, ...prefixes], KEY).catch(() => {
      for (const prefix of prefixes) used.add(prefix);
      retry ??= setTimeout(noteAll, RETRY_MS).unref();
    });
  }

  function isDue(): boolean {
    return systemClock.monotonicMs() - notedAtMs >= NOTE_EVERY_MS;
  }

  function noteAll(): void {
    if (retry !== null) clearTimeout(retry);
    retry = null;
    const all = [...used, ...usedBefore];
    [usedBefore, used, notedAtMs] = [used, new Set(), systemClock.monotonicMs()];
    if (all.length > 0) note(all);
  }

  return {
    use(prefix) {
      if (!used.has(prefix)) {
        used.add(prefix);
        if (!usedBefore.has(prefix)) note([prefix]);
      }
      if (isDue()) noteAll();
    },
    async list() {
      if (isDue()) noteAll();
      try {
        known = (await run(['EVAL', LIST, '1', KEY, String(ACTIVE_S)], KEY)) as string[];
      } catch {
        return known;
      }
      // Redis may have come back empty.
      const indexed = new Set(known);
      const missing = [...new Set([...used, ...usedBefore])].filter((prefix) => !indexed.has(prefix));
      if (missing.length > 0) note(missing);
      return [...known, ...missing];
    },
  };
}
