import { redisCall, redisCalls } from '@relay/testbed';
import { FAILING, type Incident } from './incident.ts';
import type { Site } from './site.ts';

const DOWN = /"redis":\{"status":"unavailable"/;
const GATEWAYS = { gateway1: DOWN, gateway2: DOWN } as const;
const NEVER = [/The ledger is up to date/, /Redis is up\./, /Log in/] as const;
const MAY = [
  ...FAILING,
  'RelayStoreDown',
  'RelayRedisBreakerOpen',
  'RelayAdmissionFailing',
  'RelaySpoolNotEmpty',
  'RelayLedgerLag',
  'RelayRedisScriptSlow',
] as const;
const LIMITED_FAIL = /^(503 policy_unavailable|503 metering_unavailable)$/;

const common = { may: MAY, never: NEVER, clients: LIMITED_FAIL } as const;
const PASSWORD = 'another-password';

export const redisIncidents: readonly Incident[] = [
  {
    ...common,
    name: 'Redis stops',
    async breaks({ redis }) {
      await redis.stop();
      return { heals: () => redis.start() };
    },
    tells: {
      alerts: ['RelayStoreDown', 'RelayRedisBreakerOpen', 'RelayLaneFailing', 'RelaySpoolNotEmpty'],
      healthz: GATEWAYS,
      doctor: /Redis is down/,
    },
  },
  {
    ...common,
    name: 'Redis hangs',
    async breaks({ redis }) {
      redis.pause();
      return { heals: async () => redis.resume() };
    },
    tells: {
      alerts: ['RelayRedisBreakerOpen', 'RelayLaneFailing'],
      healthz: GATEWAYS,
      doctor: /Redis is down/,
    },
  },
  {
    ...common,
    name: 'Redis answers too late',
    async breaks({ links }) {
      links.redis.slow(3_000);
      return { heals: () => links.redis.heal() };
    },
    tells: { alerts: ['RelayRedisBreakerOpen', 'RelayLaneFailing'], healthz: GATEWAYS },
  },
  {
    ...common,
    name: 'Redis is slow',
    async breaks({ links }) {
      links.redis.slow(80);
      return { heals: () => links.redis.heal() };
    },
    tells: { alerts: ['RelayRedisScriptSlow'] },
    may: [...MAY, 'RelayOverheadFastBurn'],
    never: [],
  },
  {
    ...common,
    name: 'Redis is full',
    breaks: (site) => setting(site, 'maxmemory', '1', '0'),
    tells: {
      alerts: ['RelayStoreDown', 'RelayLaneFailing'],
      healthz: { gateway1: /OOM/, gateway2: /OOM/ },
      doctor: /Redis rejects writes: OOM .* Raise `maxmemory`/,
    },
  },
  {
    ...common,
    name: 'Redis is read-only',
    async breaks({ redis }) {
      await redisCall(redis.port, 'REPLICAOF', '127.0.0.1', '1');
      return { heals: () => redisCall(redis.port, 'REPLICAOF', 'NO', 'ONE') };
    },
    tells: {
      alerts: ['RelayStoreDown', 'RelayLaneFailing'],
      healthz: { gateway1: /READONLY/, gateway2: /READONLY/ },
      doctor: /Redis rejects writes: READONLY .* Let it lead to the master/,
    },
  },
  {
    ...common,
    name: 'Redis gets another password',
    async breaks({ redis }) {
      await redisCall(redis.port, 'CONFIG', 'SET', 'requirepass', PASSWORD);
      await redisCalls(redis.port, [
        ['AUTH', PASSWORD],
        ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'],
      ]);
      return {
        heals: () =>
          redisCalls(redis.port, [
            ['AUTH', PASSWORD],
            ['CONFIG', 'SET', 'requirepass', ''],
          ]),
      };
    },
    tells: {
      alerts: ['RelayStoreDown', 'RelayLaneFailing'],
      healthz: { gateway1: /NOAUTH|WRONGPASS/, gateway2: /NOAUTH|WRONGPASS/ },
      doctor: /Put the password of Redis into REDIS_URL/,
    },
  },
  {
    ...common,
    name: 'Redis takes no more connections',
    async breaks({ redis }) {
      await redisCall(redis.port, 'CONFIG', 'SET', 'maxclients', '1');
      await redisCall(redis.port, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await redisCall(redis.port, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
      return {
        // It would take no connection that could change the setting back.
        async heals() {
          await redis.stop();
          await redis.start();
        },
      };
    },
    tells: { alerts: ['RelayStoreDown', 'RelayLaneFailing'], healthz: { gateway1: /max number of clients/ } },
  },
  {
    ...common,
    name: 'Redis loses everything',
    async breaks({ redis }) {
      await redisCall(redis.port, 'FLUSHALL');
      return { heals: async () => undefined };
    },
    tells: { log: /lost state/ },
    never: [],
  },
  {
    ...common,
    name: 'Redis restarts empty',
    async breaks({ redis }) {
      await redis.kill();
      redis.loseWrites('all');
      await redis.start();
      return { heals: async () => undefined };
    },
    tells: { log: /lost state/ },
    never: [],
  },
  {
    ...common,
    name: 'Redis may evict keys',
    breaks: (site) => setting(site, 'maxmemory-policy', 'allkeys-lru', 'noeviction'),
    tells: { doctor: /maxmemory-policy|evict/ },
    clients: /^never$/,
    never: [],
  },
  {
    ...common,
    name: 'Redis breaks all connections',
    async breaks({ redis }) {
      await redisCall(redis.port, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      return { heals: async () => undefined };
    },
    tells: {},
    never: [],
  },
];

async function setting({ redis }: Site, name: string, value: string, before: string) {
  await redisCall(redis.port, 'CONFIG', 'SET', name, value);
  return { heals: () => redisCall(redis.port, 'CONFIG', 'SET', name, before) };
}
