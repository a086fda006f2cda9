// `npm run bench -- keys` runs this file: it fills a database with keys and measures a gateway's key directory on them.
// Prints one JSON object at the end.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { digestOfKey, mintApiKey } from '../../domain/api-key.ts';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from '../postgres/migrate.ts';
import { createDatabase, type DatabaseHandle, type Session } from '../postgres/postgres.ts';
import { createKeyDirectory, type KeyDirectory } from './key-directory.ts';

const KEYS_PER_ORGANIZATION = 100;
const ROWS_PER_STATEMENT = 250_000;
const STATEMENT_MS_MAX = 20 * 60_000;
const COLD_LOOKUPS = 5_000;
const HOT_LOOKUPS = 2_000_000;
const HOT_SLICE = 200;
const FILLED_AT_ONCE = 64;
const MIB = 1_048_576;

export interface LoadedKeys {
  /** Complete, valid keys of the first organizations. */
  readonly keys: readonly string[];
  /** Keys of the other organizations, spread over the whole table. */
  readonly coldPublicIds: readonly string[];
  readonly bytes: number;
}

/** Fills the table as in a large deployment, with `hot` valid keys among the rows. */
export async function loadKeys(
  database: DatabaseHandle,
  { rows, hot, pepper }: { rows: number; hot: number; pepper: KeyObject },
): Promise<LoadedKeys> {
  const coldWanted = Math.min(COLD_LOOKUPS, rows - hot);
  return database.withSession(async (session) => {
    // The rows are correct by construction, and checking twenty million references would take most of the time.
    await session.query("set session_replication_role = 'replica'");
    await addOrganizations(session, Math.ceil(rows / KEYS_PER_ORGANIZATION));
    const keys = await addHotKeys(session, hot, pepper);
    for (let from = hot; from < rows; from += ROWS_PER_STATEMENT)
      await addColdKeys(session, from, Math.min(rows, from + ROWS_PER_STATEMENT) - 1);
    await session.query('analyze');
    const step = Math.max(1, Math.floor((rows - hot) / Math.max(1, coldWanted)));
    const cold = await session.query(
      `select ${publicIdOf('i')} as public_id from generate_series($1::int, $2::int, $3::int) as i limit $4`,
      [hot, rows - 1, step, coldWanted],
    );
    const size = await session.query("select pg_total_relation_size('api_keys') as bytes");
    return {
      keys,
      coldPublicIds: shuffled(cold.rows.map((row) => String(row['public_id']))),
      bytes: Number(size.rows[0]?.['bytes']),
    };
  }, STATEMENT_MS_MAX);
}

const organizationIdOf = (row: string) => `md5('organization' || (${row}) / ${KEYS_PER_ORGANIZATION})::uuid`;
const userIdOf = (row: string) => `md5('user' || (${row}) / ${KEYS_PER_ORGANIZATION})::uuid`;
const publicIdOf = (row: string) =>
  `left(translate(encode(sha256(('key' || ${row})::bytea), 'base64'), '+/=', 'xyz'), 10)`;

async function addOrganizations(session: Session, organizations: number): Promise<void> {
  const series = `from generate_series(0, ${organizations - 1}) as n, lateral (select n * ${KEYS_PER_ORGANIZATION} as row) r`;
  await session.query(
    `insert into organizations (id, name, slug, plan)
     select ${organizationIdOf('row')}, 'Organization ' || n, 'organization-' || n, 'enterprise' ${series}`,
  );
  await session.query(
    `insert into users (id, name, email) select ${userIdOf('row')}, 'User ' || n, 'user-' || n || '@example.com' ${series}`,
  );
  await session.query(
    `insert into organization_members (organization_id, user_id, role)
     select ${organizationIdOf('row')}, ${userIdOf('row')}, 'owner' ${series}`,
  );
}

async function addColdKeys(session: Session, first: number, last: number): Promise<void> {
  await session.query(
    `insert into api_keys (organization_id, id, user_id, name, public_id, secret_hmac, scopes)
     select ${organizationIdOf('i')}, md5('id' || i)::uuid, ${userIdOf('i')}, 'key ' || i, ${publicIdOf('i')},
       sha256(('secret' || i)::bytea), '{relay:request,relay:usage:read}'
     from generate_series(${first}, ${last}) as i`,
  );
}

async function addHotKeys(session: Session, hot: number, pepper: KeyObject): Promise<string[]> {
  const keys: string[] = [];
  const rowsAtOnce = 5_000;
  for (let from = 0; from < hot; from += rowsAtOnce) {
    const minted = Array.from({ length: Math.min(rowsAtOnce, hot - from) }, () => mintApiKey(randomBytes));
    await session.query(
      `insert into api_keys (organization_id, id, user_id, name, public_id, secret_hmac, scopes)
       select ${organizationIdOf('i')}, md5('id' || i)::uuid, ${userIdOf('i')}, 'key ' || i, public_id, secret_hmac,
         '{relay:request,relay:usage:read}'
       from unnest($2::text[], $3::bytea[]) with ordinality as made (public_id, secret_hmac, place),
         lateral (select ($1::int + place - 1)::int as i) row`,
      [from, minted.map(({ publicId }) => publicId), minted.map(({ key }) => digestOfKey(pepper, key))],
    );
    for (const { key } of minted) keys.push(key);
  }
  return keys;
}

/** The time of a lookup with and without the key in memory, and the memory that held keys take. */
export async function measureDirectory(
  database: DatabaseHandle,
  { keys, coldPublicIds }: LoadedKeys,
): Promise<Record<string, number>> {
  const publicIds = keys.map((key) => key.slice(4, 14));
  const begin = () =>
    createKeyDirectory({
      database,
      snapshots: { onChange: () => () => undefined },
      log: silentLog,
      keysMax: publicIds.length,
    });
  const cold = await measureCold(begin(), coldPublicIds);
  const directory = begin();
  const before = memory();
  const startMs = performance.now();
  await fill(directory, publicIds);
  const fillMs = performance.now() - startMs;
  const after = memory();
  if (directory.size() !== publicIds.length) throw new Error(`only ${directory.size()} keys are held`);
  return {
    ...cold,
    ...measureHot(directory, publicIds),
    filled_per_s: Math.round((publicIds.length * 1_000) / fillMs),
    bytes_per_hot_key: Math.round((after.heap - before.heap) / publicIds.length),
    directory_heap_mib: Math.round((after.heap - before.heap) / MIB),
    directory_rss_mib: Math.round(after.rss / MIB),
  };
}

async function measureCold(
  directory: KeyDirectory,
  publicIds: readonly string[],
): Promise<Record<string, number>> {
  const tookMs: number[] = [];
  for (const publicId of publicIds) {
    const startMs = performance.now();
    const found = await directory.find(publicId);
    tookMs.push(performance.now() - startMs);
    if (found === undefined) throw new Error(`${publicId} is not there`);
  }
  return { cold_ms_p50: quantile(tookMs, 0.5, 3), cold_ms_p99: quantile(tookMs, 0.99, 3) };
}

async function fill(directory: KeyDirectory, publicIds: readonly string[]): Promise<void> {
  let next = 0;
  const one = async () => {
    for (let index = next++; index < publicIds.length; index = next++)
      await directory.find(publicIds[index] ?? '');
  };
  await Promise.all(Array.from({ length: FILLED_AT_ONCE }, one));
}

/** In slices, because reading the clock is slower than a lookup. */
function measureHot(directory: KeyDirectory, publicIds: readonly string[]): Record<string, number> {
  const order = shuffled(publicIds);
  const tookNs: number[] = [];
  for (let done = 0; done < HOT_LOOKUPS; done += HOT_SLICE) {
    const startMs = performance.now();
    for (let index = 0; index < HOT_SLICE; index += 1)
      if (directory.get(order[(done + index) % order.length] ?? '') === undefined)
        throw new Error('a key is gone');
    tookNs.push(((performance.now() - startMs) * 1e6) / HOT_SLICE);
  }
  return { hot_ns_p50: quantile(tookNs, 0.5, 0), hot_ns_p99: quantile(tookNs, 0.99, 0) };
}

function memory(): { heap: number; rss: number } {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

function quantile(values: readonly number[], part: number, digits: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Number((sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0).toFixed(digits));
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

async function main(args: readonly string[]): Promise<void> {
  const text = { type: 'string', default: '' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { url: text, rows: text, hot: text, pepper: text, 'keys-file': text },
  });
  const database = createDatabase({ url: values.url, log: silentLog });
  await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  const startMs = performance.now();
  const loaded = await loadKeys(database, {
    rows: Number(values.rows),
    hot: Number(values.hot),
    pepper: createSecretKey(values.pepper, 'hex'),
  });
  const loadS = Math.round((performance.now() - startMs) / 1_000);
  writeFileSync(values['keys-file'], loaded.keys.join('\n'));
  const figures = await measureDirectory(database, loaded);
  await database.close();
  const table = {
    rows: Number(values.rows),
    load_s: loadS,
    table_gib: Number((loaded.bytes / 2 ** 30).toFixed(2)),
  };
  process.stdout.write(`${JSON.stringify({ ...table, hot_keys: loaded.keys.length, ...figures })}\n`);
}

if (import.meta.main) await main(process.argv.slice(2));
