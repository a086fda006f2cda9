import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProgramError } from '../kit/program-error.ts';
import { availability, failedNeed, findingOf, storeFindings } from './check-stores.ts';

const postgresql = { pooled: false, unsafe: [], missing_timeouts: [] };
const redis = { eviction: 'noeviction', persistence: 'append_only' } as const;

describe('findings on the stores', () => {
  it('are none for servers that keep what they are given', () => {
    assert.deepEqual(storeFindings({ postgresql_settings: postgresql, redis_settings: redis }), []);
    assert.deepEqual(storeFindings({}), []);
  });

  it('name the statements that make PostgreSQL safe', () => {
    const [durable, timeouts] = storeFindings({
      postgresql_settings: {
        ...postgresql,
        unsafe: ['fsync', 'synchronous_commit'],
        missing_timeouts: ['statement_timeout', 'lock_timeout'],
      },
    });
    assert.equal(durable?.status, 'warn');
    assert.match(
      durable?.fix ?? '',
      /ALTER SYSTEM SET fsync = on; ALTER SYSTEM SET synchronous_commit = on;/,
    );
    assert.match(timeouts?.message ?? '', /no statement_timeout, lock_timeout/);
    assert.match(timeouts?.fix ?? '', /ALTER ROLE CURRENT_USER SET statement_timeout = '5s'; ALTER ROLE/);
    assert.match(timeouts?.fix ?? '', /ALTER ROLE CURRENT_USER SET jit = 'off';/);
  });

  it('name the setting of a Redis that evicts, and of one that keeps nothing', () => {
    const found = storeFindings({
      redis_settings: { ...redis, eviction: 'allkeys-lru', persistence: 'none' },
    });
    assert.deepEqual(
      found.map(({ status }) => status),
      ['fail', 'warn'],
    );
    assert.match(found[0]?.fix ?? '', /maxmemory-policy noeviction/);
    assert.match(found[1]?.fix ?? '', /appendonly yes/);
  });
});

describe('a store that fails', () => {
  const rejecting = { status: 'unavailable', operation: 'write', reason: 'OOM command not allowed' } as const;
  const down = { status: 'unavailable', operation: 'read', reason: 'WRONGPASS invalid password' } as const;
  const well = { status: 'ok' } as const;

  it('is told with its own words, and with what mends it', () => {
    const [, full] = availability({ checks: { postgresql: well, redis: rejecting } });
    assert.equal(full?.message, 'Redis rejects writes: OOM command not allowed');
    assert.match(full?.fix ?? '', /maxmemory/);
    const [rejected] = availability({ checks: { redis: down } });
    assert.match(rejected?.message ?? '', /^Redis is down: WRONGPASS/);
    assert.match(rejected?.fix ?? '', /REDIS_URL/);
  });

  it('is the reason of every check that needs it, and of no other', () => {
    const checks = { postgresql: rejecting, redis: well };
    assert.equal(failedNeed({ checks }, 'every store'), 'PostgreSQL rejects writes.');
    assert.equal(failedNeed({ checks }, 'postgresql'), null, 'it can be read');
    assert.equal(
      failedNeed({ checks: { postgresql: down, redis: well } }, 'postgresql'),
      'PostgreSQL is down.',
    );
    assert.equal(failedNeed({ checks: { postgresql: well, redis: down } }, 'postgresql'), null);
  });
});

describe('a check that failed', () => {
  const error = new ProgramError('The database is unavailable.', 1, { fix: 'Retry. Run: `relay doctor`' });
  const checks = { postgresql: { status: 'unavailable', operation: 'write', reason: 'disk full' } } as const;

  it('is not checked where a store has failed, which is a finding already', () => {
    const finding = findingOf('lanes', error, { checks });
    assert.deepEqual(finding, {
      check: 'lanes',
      status: 'note',
      message: 'Not checked: PostgreSQL rejects writes.',
    });
  });

  it('never advises to run the command that prints it', () => {
    const { status, fix = '' } = findingOf('lanes', error, { checks: { postgresql: { status: 'ok' } } });
    assert.deepEqual([status, fix.includes('Retry.'), fix.includes('doctor')], ['fail', true, false]);
  });
});
