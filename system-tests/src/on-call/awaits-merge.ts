import type { Tells } from './incident.ts';

/** What of a row is not judged yet. */
export interface Awaits {
  /** The whole row, or some of its judgements. `never`: wrong words in `/healthz` and doctor. */
  readonly without: 'all' | readonly (keyof Tells | 'never')[];
  readonly reason: string;
}

const SECRETS: Awaits = { without: 'all', reason: 'w-sec: a process starts with other secrets' };
const ADVICE: Awaits = { without: ['doctor', 'never'], reason: 'w-ops: doctor names one cause' };
const WRITES: Awaits = { without: 'all', reason: 'w-ops: a store is up when it accepts writes' };

/** Rows that expect what is not built yet, by the name of the incident. An entry that is no longer needed fails nothing: remove it. */
export const awaitsMerge: Readonly<Record<string, Awaits>> = {
  ...Object.fromEntries(
    ['gateway2', 'platform', 'worker'].flatMap((name) =>
      ['RELAY_MASTER_KEY', 'RELAY_AUTH_SECRET', 'RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN'].map((variable) => [
        `${name} starts with another ${variable}`,
        SECRETS,
      ]),
    ),
  ),
  'all gateways serve with another auth secret': SECRETS,
  'a second deployment uses the same Redis': { without: 'all', reason: 'w-id: stores carry no identity' },
  'PostgreSQL stops': ADVICE,
  'PostgreSQL hangs': ADVICE,
  'PostgreSQL answers too late': ADVICE,
  'PostgreSQL can’t be reached by one gateway’s network': ADVICE,
  'PostgreSQL’s disk is full': WRITES,
  'PostgreSQL is read-only': WRITES,
  'PostgreSQL has no connection left': {
    without: ['healthz', 'never'],
    reason: 'w-ops: the store’s own words',
  },
  'the ledger’s table is locked': ADVICE,
  'PostgreSQL ends all connections': ADVICE,
  'a transaction of another program holds an old snapshot': ADVICE,
  'Redis stops': ADVICE,
  'Redis hangs': ADVICE,
  'Redis answers too late': ADVICE,
  'Redis is full': { without: 'all', reason: WRITES.reason },
  'Redis is read-only': { without: 'all', reason: WRITES.reason },
  'Redis gets another password': { without: ['healthz', 'never'], reason: 'w-ops: the store’s own words' },
  'Redis takes no more connections': {
    without: ['healthz', 'never'],
    reason: 'w-ops: the store’s own words',
  },
  'the worker is killed': { without: ['doctor', 'home', 'never'], reason: 'w-ops: absence is not ok' },
  'the platform stops while PostgreSQL hangs': {
    without: 'all',
    reason: 'w-ops: one deadline for the shutdown',
  },
  'the certificate of a provider has expired': {
    without: 'all',
    reason:
      'relay_endpoint_health keeps an endpoint that was deleted while it was down; doctor does not name the certificate',
  },
  'a gateway runs out of file descriptors': {
    without: 'all',
    reason: 'process_max_fds is read once, so that the alert sees no limit that is lowered later',
  },
};
