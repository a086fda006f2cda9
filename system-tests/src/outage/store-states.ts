import { redisCall, redisCalls } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import pg from 'pg';
import type { Site } from './site.ts';

/** A way in which a store does not do what Relay needs of it. */
export interface StoreState {
  readonly name: string;
  readonly store: 'postgresql' | 'redis';
  /** What `/healthz` says fails, and what its reason has of the store's own words. */
  readonly operation: 'read' | 'write';
  readonly reason: RegExp;
  /** Also in the short form of the suite. */
  readonly inShort?: true;
  begin(site: Site): Promise<void>;
  end(site: Site): Promise<void>;
}

const PASSWORD = 'another-password';

const STORE_STATES: readonly StoreState[] = [
  {
    name: 'PostgreSQL stopped',
    store: 'postgresql',
    operation: 'read',
    reason: /ECONNREFUSED|terminat|shutting down/,
    begin: ({ deployment }) => deployment.postgres.stop(),
    end: ({ deployment }) => deployment.postgres.start(),
  },
  {
    name: 'PostgreSQL hung',
    inShort: true,
    store: 'postgresql',
    operation: 'read',
    reason: /no response|timeout/i,
    begin: async ({ deployment }) => deployment.postgres.pause(),
    end: async ({ deployment }) => deployment.postgres.resume(),
  },
  {
    name: 'PostgreSQL read-only',
    inShort: true,
    store: 'postgresql',
    operation: 'write',
    reason: /read.only/,
    begin: (site) => onPostgres(site, 'alter system set default_transaction_read_only = on'),
    end: (site) => onPostgres(site, 'alter system reset default_transaction_read_only'),
  },
  {
    name: 'Redis stopped',
    store: 'redis',
    operation: 'read',
    reason: /ECONNREFUSED|closed/i,
    begin: ({ redis }) => redis.stop(),
    end: ({ redis }) => redis.start(),
  },
  {
    name: 'Redis hung',
    store: 'redis',
    operation: 'read',
    reason: /no response|timeout/i,
    begin: async ({ redis }) => redis.pause(),
    end: async ({ redis }) => redis.resume(),
  },
  {
    name: 'Redis full',
    inShort: true,
    store: 'redis',
    operation: 'write',
    reason: /^OOM /,
    begin: ({ redis }) => onRedis(redis.port, 'CONFIG', 'SET', 'maxmemory', '1'),
    end: ({ redis }) => onRedis(redis.port, 'CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'Redis read-only',
    store: 'redis',
    operation: 'write',
    reason: /^READONLY /,
    // A replica of a master that is not there keeps its data and rejects writes.
    begin: ({ redis }) => onRedis(redis.port, 'REPLICAOF', '127.0.0.1', '1'),
    end: ({ redis }) => onRedis(redis.port, 'REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'Redis with another password',
    inShort: true,
    store: 'redis',
    operation: 'read',
    reason: /^(?:NOAUTH|WRONGPASS) /,
    async begin({ redis }) {
      await onRedis(redis.port, 'CONFIG', 'SET', 'requirepass', PASSWORD);
      await redisCalls(redis.port, [
        ['AUTH', PASSWORD],
        ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'],
      ]);
    },
    async end({ redis }) {
      await redisCalls(redis.port, [
        ['AUTH', PASSWORD],
        ['CONFIG', 'SET', 'requirepass', ''],
      ]);
    },
  },
];

/** All of them with RELAY_SYSTEM_LONG=1. */
export const TRIED_STATES = STORE_STATES.filter(({ inShort }) => IS_LONG || inShort);

async function onRedis(port: number, ...command: readonly string[]): Promise<void> {
  await redisCall(port, ...command);
}

/** As of a session that may write, whatever the server's default is. */
async function onPostgres({ deployment }: Site, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: deployment.postgres.url });
  await client.connect();
  try {
    await client.query(statement);
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}
