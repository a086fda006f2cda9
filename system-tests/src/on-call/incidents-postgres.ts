import pg from 'pg';
import type { Incident } from './incident.ts';
import type { Site } from './site.ts';

const DOWN = /"postgresql":\{"status":"unavailable"/;
const EVERYWHERE = { gateway1: DOWN, gateway2: DOWN, platform: DOWN, worker: DOWN } as const;
/** Wrong while PostgreSQL is the cause. */
const NEVER = [
  /Log in/,
  /rejected the (?:management|inference) token/,
  /unset DATABASE_URL/,
  /The ledger is up to date/,
] as const;
const MAY = [
  'RelayStoreDown',
  'RelayConfigurationStale',
  'RelayLedgerLag',
  'RelayLedgerBacklogGrowing',
] as const;

const common = { may: MAY, never: NEVER } as const;

export const postgresIncidents: readonly Incident[] = [
  {
    ...common,
    name: 'PostgreSQL stops',
    async breaks({ postgres }) {
      await postgres.stop();
      return { heals: () => postgres.start() };
    },
    tells: { alerts: ['RelayStoreDown'], healthz: EVERYWHERE, doctor: /PostgreSQL is down/ },
  },
  {
    ...common,
    name: 'PostgreSQL hangs',
    async breaks({ postgres }) {
      postgres.pause();
      return { heals: async () => postgres.resume() };
    },
    tells: { alerts: ['RelayStoreDown'], healthz: EVERYWHERE, doctor: /PostgreSQL is down/ },
  },
  {
    ...common,
    name: 'PostgreSQL answers too late',
    async breaks({ links }) {
      links.postgres.slow(6_000);
      return { heals: () => links.postgres.heal() };
    },
    tells: { alerts: ['RelayStoreDown'], healthz: { platform: DOWN, worker: DOWN } },
  },
  {
    ...common,
    name: 'PostgreSQL can’t be reached by one gateway’s network',
    async breaks({ links }) {
      await links.postgres.refuse();
      return { heals: () => links.postgres.heal() };
    },
    tells: { alerts: ['RelayStoreDown'], healthz: EVERYWHERE },
  },
  {
    ...common,
    name: 'PostgreSQL’s disk is full',
    async breaks({ postgres }) {
      postgres.disk?.fill();
      return { heals: async () => postgres.disk?.free() };
    },
    tells: {
      alerts: ['RelayStoreDown'],
      healthz: { worker: /No space left on device/ },
      doctor: /PostgreSQL rejects writes: .*No space left on device.* Free space on the disk of PostgreSQL/,
    },
  },
  {
    ...common,
    name: 'PostgreSQL is read-only',
    breaks: (site) =>
      setting(
        site,
        'default_transaction_read_only',
        'on',
        'alter system reset default_transaction_read_only',
      ),
    tells: {
      alerts: ['RelayStoreDown'],
      healthz: { worker: /read-only transaction|transaction_read_only is on/ },
      doctor: /PostgreSQL rejects writes: .*read.only.* Let it lead to the primary/,
    },
  },
  {
    ...common,
    name: 'PostgreSQL accepts no connections',
    breaks: (site) =>
      withClient(site, 'template1', async (query) => {
        await query('alter database postgres connection limit 0');
        await query('alter database postgres with allow_connections false');
        await query(ENDED);
        return async () => {
          await query('alter database postgres with allow_connections true');
          await query('alter database postgres connection limit -1');
        };
      }),
    tells: {
      alerts: ['RelayStoreDown'],
      healthz: {
        platform: /not currently accepting connections/,
        worker: /not currently accepting connections/,
      },
      doctor: /PostgreSQL is down/,
    },
  },
  {
    ...common,
    name: 'the ledger’s table is locked',
    breaks: (site) =>
      withClient(site, 'postgres', async (query) => {
        await query('begin');
        await query('lock table requests in access exclusive mode');
        return async () => void (await query('rollback'));
      }),
    tells: { alerts: ['RelayLedgerLag'], log: /timeout/ },
  },
  {
    ...common,
    name: 'PostgreSQL ends all connections',
    breaks: (site) =>
      withClient(site, 'template1', async (query) => {
        await query(ENDED);
        return async () => undefined;
      }),
    tells: {},
  },
  {
    ...common,
    name: 'a transaction of another program holds an old snapshot',
    breaks: (site) =>
      withClient(site, 'postgres', async (query) => {
        await query('begin isolation level repeatable read');
        await query('select count(*) from requests');
        return async () => void (await query('rollback'));
      }),
    tells: {},
    lastsMs: 5_000,
  },
];

const ENDED =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'postgres' and pid <> pg_backend_pid()";

type Query = (text: string) => Promise<unknown>;

/** A connection of its own, which stays until the incident is over. */
async function withClient(
  { postgres }: Site,
  database: string,
  work: (query: Query) => Promise<() => Promise<void>>,
) {
  const url = new URL(postgres.url);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => undefined);
  await client.connect();
  const heals = await work((text) => client.query(text));
  return {
    async heals() {
      await heals();
      await client.end();
    },
  };
}

/** A setting of the server, and connections that have it. */
function setting(site: Site, name: string, value: string, reset: string) {
  return withClient(site, 'template1', async (query) => {
    await query(`alter system set ${name} = ${value}`);
    await query('select pg_reload_conf()');
    await query(ENDED);
    return async () => {
      await query('set transaction_read_only = off').catch(() => undefined);
      await query(reset);
      await query('select pg_reload_conf()');
      await query(ENDED);
    };
  });
}
