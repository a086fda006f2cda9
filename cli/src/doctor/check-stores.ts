import { ApiError } from '../api/api-error.ts';
import type { ProgramError } from '../kit/program-error.ts';
import { type Finding, fail, type Need, ok, skipped, warn } from './finding.ts';
import type { Health } from './read-health.ts';

const NEEDED_TIMEOUTS = [
  ['statement_timeout', '5s'],
  ['lock_timeout', '5s'],
  ['idle_in_transaction_session_timeout', '10s'],
] as const;

const STORES = [
  ['postgresql', 'PostgreSQL'],
  ['redis', 'Redis'],
] as const;

/** The fix for a failed store, by the words of its error. */
const FIXES: readonly (readonly [reason: RegExp, fix: string])[] = [
  [/^OOM\b/, 'Raise `maxmemory` of Redis, or find what else fills it. Run: `redis-cli INFO memory`'],
  [/^READONLY\b/, 'REDIS_URL leads to a replica. Let it lead to the master.'],
  [/^(?:WRONGPASS|NOAUTH|NOPERM)\b/, 'Put the password of Redis into REDIS_URL, and restart Relay.'],
  [/^(?:MISCONF|NOREPLICAS)\b/, 'Mend what Redis names in its log; Relay continues automatically.'],
  [/no space left|disk full/i, 'Free space on the disk of PostgreSQL; Relay continues automatically.'],
  [/read.only/i, 'DATABASE_URL leads to a standby or a read-only database. Let it lead to the primary.'],
  [
    /too many clients|connection slots|too many connections/i,
    'Raise `max_connections` of PostgreSQL, or lower RELAY_DATABASE_POOL_MAX.',
  ],
  [/password authentication failed/i, 'Put the password of PostgreSQL into DATABASE_URL, and restart Relay.'],
];

/** A finding for each store: it answers and accepts writes, or which of the two fails. */
export function availability({ checks }: Pick<Health, 'checks'>): Finding[] {
  return STORES.flatMap(([key, name]) => {
    const check = checks[key];
    if (check === undefined) return [];
    if (check.status === 'ok') return [ok('stores', `${name} is up.`)];
    const what = check.operation === 'write' ? 'rejects writes' : 'is down';
    const { reason } = check;
    const fix = FIXES.find(([words]) => words.test(reason ?? ''))?.[1];
    return [
      fail(
        'stores',
        reason === undefined ? `${name} ${what}.` : `${name} ${what}: ${reason}`,
        fix ?? `Restore ${name}; Relay reconnects automatically.`,
      ),
    ];
  });
}

/** Why a check that needs this would fail for a reason that is a finding already; null when it can run. */
export function failedNeed({ checks }: Pick<Health, 'checks'>, need: Need): string | null {
  for (const [key, name] of STORES) {
    const check = checks[key];
    if (check === undefined || check.status === 'ok') continue;
    const what = check.operation === 'write' ? 'rejects writes' : 'is down';
    if (need === 'every store' || (need === key && check.operation !== 'write')) return `${name} ${what}.`;
  }
  return null;
}

/** A check that failed. Beside a failed store it says nothing new, so it counts as not checked; and no fix names the command that prints it. */
export function findingOf(
  check: string,
  error: ProgramError,
  health: Pick<Health, 'checks'> | null,
): Finding {
  const fix = error.detail.fix?.replace(/ ?Run: `relay doctor`$/, '') ?? '';
  const because = health === null ? null : failedNeed(health, 'every store');
  if (error instanceof ApiError && error.status === 403)
    return warn(check, `Not checked: ${error.message}`, fix || 'Try again.');
  const isOfServer = !(error instanceof ApiError) || error.status >= 500;
  return because !== null && isOfServer
    ? skipped(check, because)
    : fail(check, error.message, fix || 'Try again.');
}

/** What to change in the settings of PostgreSQL and Redis. */
export function storeFindings(health: Pick<Health, 'postgresql_settings' | 'redis_settings'>): Finding[] {
  return [...postgresFindings(health), ...redisFindings(health)];
}

function postgresFindings({ postgresql_settings }: Pick<Health, 'postgresql_settings'>): Finding[] {
  if (postgresql_settings === undefined) return [];
  const { unsafe, missing_timeouts } = postgresql_settings;
  const findings: Finding[] = [];
  if (unsafe.length > 0) {
    findings.push(
      warn(
        'stores',
        `PostgreSQL can lose committed rows in a crash: ${unsafe.join(' and ')} ${unsafe.length === 1 ? 'is' : 'are'} off.`,
        `In psql: ${unsafe.map((name) => `ALTER SYSTEM SET ${name} = on;`).join(' ')} SELECT pg_reload_conf();`,
      ),
    );
  }
  const missing = NEEDED_TIMEOUTS.filter(([name]) => missing_timeouts.includes(name));
  if (missing.length > 0) {
    findings.push(
      warn(
        'stores',
        `Sessions behind the pooler have no ${missing.map(([name]) => name).join(', ')}, so a client that disconnects can keep holding locks.`,
        `In psql, as the user of DATABASE_URL: ${[...missing, ['jit', 'off']].map(([name, value]) => `ALTER ROLE CURRENT_USER SET ${name} = '${value}';`).join(' ')} Then run RECONNECT; in the pooler’s admin console.`,
      ),
    );
  }
  return findings;
}

/** Redis that evicts or keeps nothing loses what limits have counted and what is on its way to the ledger. */
function redisFindings({ redis_settings }: Pick<Health, 'redis_settings'>): Finding[] {
  if (redis_settings === undefined) return [];
  const { eviction, persistence } = redis_settings;
  const findings: Finding[] = [];
  if (eviction !== 'noeviction') {
    findings.push(
      fail(
        'stores',
        `Redis evicts data when its memory is full (${eviction}), which loses limit state and usage.`,
        'Set `maxmemory-policy noeviction` in its configuration.',
      ),
    );
  }
  if (persistence === 'none') {
    findings.push(
      warn(
        'stores',
        'Redis has no persistence. After Redis restarts, Relay rebuilds its state, and requests that are subject to a limit get 503 for a few seconds. If a gateway stops at the same time, usage that is not in the ledger yet can be lost.',
        'Set `appendonly yes` in its configuration.',
      ),
    );
  }
  return findings;
}
