import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { SOMEBODY } from '../admission/ask.fixture.ts';
import type { DeskAnswer } from '../admission/engine.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { RelayError } from '../domain/relay-error.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createLedgerJournal } from '../metering/journal/index.ts';
import { spoolDirectory } from '../metering/kept-usage.fixture.ts';
import { sampleDraft, sampleRecord } from '../metering/request-records.fixture.ts';
import { createPostgresLedger } from '../metering/sinks/postgres-ledger.ts';
import { testSealer } from '../metering/test-sealer.fixture.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { createEmbeddedAdmission, type EmbeddedAdmission } from './start-embedded-admission.ts';

const COUNTS = { userId: null, keyId: null, scopeType: 'global', scopeId: null } as const;
/** The estimate of a fixture's draft, and the actual usage in its record. */
const ESTIMATED_TOKENS = 70;
const USED_TOKENS = 5;
const USED = { dispatched: true, tokens: USED_TOKENS, spendMicros: 5 };

describe('a process that is the whole deployment, killed and started again', () => {
  let migrated: MigratedDatabase;
  let directory: ReturnType<typeof spoolDirectory>;
  let organizationId: string;
  let running: EmbeddedAdmission[];

  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());
  beforeEach(() => {
    directory = spoolDirectory();
    organizationId = randomUUIDv7();
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((admission) => admission.stop(0)));
    directory[Symbol.dispose]();
  });

  async function start(): Promise<EmbeddedAdmission> {
    const parts = { db: migrated.db, clock: systemClock, log: createLog('silent'), sealer: testSealer };
    const spool = { directory: directory.path, bytesMax: 1_048_576, ownerId: randomUUIDv7() };
    const admission = createEmbeddedAdmission({
      ...parts,
      ledger: createLedgerJournal({ ...parts, ...spool, ledger: createPostgresLedger(parts) }),
    });
    running.push(admission);
    await admission.prepare();
    await admission.start();
    return admission;
  }

  /** Simulates a crash: memory is lost, files stay. */
  async function killAndStart(admission: EmbeddedAdmission): Promise<EmbeddedAdmission> {
    await admission.stop(0);
    return start();
  }

  function policy(metric: LimitMetric, period: LimitPeriod, limit: number): AppliedLimit {
    return { id: `${metric}-${period}`, metric, period, limit, counts: COUNTS };
  }

  async function ask(
    { desk }: EmbeddedAdmission,
    policies: readonly AppliedLimit[],
    requestId = randomUUIDv7(),
  ) {
    const draft = sampleDraft({ requestId, organizationId });
    const charges = policies.map((each) => ({
      policy: each,
      cost: each.metric === 'tokens' ? ESTIMATED_TOKENS : 1,
    }));
    const answer: DeskAnswer = await desk.admit({
      organizationId,
      operationId: requestId,
      queue: 'lane:key',
      waitersMax: 10,
      ...SOMEBODY,
      candidates: [{ endpointId: draft.candidates[0]?.endpointId ?? '', paced: false, charges }],
      selection: 'preferred',
      waitMsMax: 0,
      draft: JSON.stringify(draft),
    });
    const settle = () =>
      desk.settle(
        organizationId,
        requestId,
        USED,
        JSON.stringify(sampleRecord({ requestId, organizationId })),
      );
    return { kind: answer.kind, settle };
  }

  for (const period of ['minute', 'hour', 'day', 'month'] as const) {
    it(`still knows what requests have taken of a limit per ${period}, ended or lost`, async () => {
      const limit = [policy('requests', period, 3)];
      const first = await start();
      for (const isEnded of [true, true, false]) {
        const { kind, settle } = await ask(first, limit);
        assert.equal(kind, 'admitted');
        if (isEnded) settle();
      }
      assert.equal((await ask(first, limit)).kind, 'refused');
      const second = await killAndStart(first);
      assert.equal((await ask(second, limit)).kind, 'refused');
      assert.equal((await ask(await killAndStart(second), [policy('requests', period, 4)])).kind, 'admitted');
    });
  }

  it('counts what is known at its use, and what is lost at its estimate', async () => {
    const used = 2 * USED_TOKENS + ESTIMATED_TOKENS;
    const tokens = (room: number) => [policy('tokens', 'minute', used + room)];
    const first = await start();
    for (const isEnded of [true, true, false]) {
      const { settle } = await ask(first, tokens(10_000));
      if (isEnded) settle();
    }
    const second = await killAndStart(first);
    assert.equal((await ask(second, tokens(ESTIMATED_TOKENS - 1))).kind, 'refused');
    assert.equal((await ask(second, tokens(ESTIMATED_TOKENS))).kind, 'admitted');
  });

  it('shows what limits have counted before the first request asks for them', async () => {
    const limits = [policy('requests', 'minute', 9), policy('tokens', 'day', 900)];
    const first = await start();
    for (const isEnded of [true, false]) {
      const { settle } = await ask(first, limits);
      if (isEnded) settle();
    }
    const second = await killAndStart(first);
    const usage = await second.limitUsage(organizationId, limits);
    assert.deepEqual(
      usage.map(({ used }) => used),
      [2, USED_TOKENS + ESTIMATED_TOKENS],
    );
  });

  it('takes no unit of concurrency along: those who held it are gone', async () => {
    const one = [policy('concurrency', 'none', 1)];
    const first = await start();
    assert.equal((await ask(first, one)).kind, 'admitted');
    assert.equal((await ask(await killAndStart(first), one)).kind, 'admitted');
  });

  it('dispatches nothing that it cannot write down, and gives back what that had reserved', async () => {
    const one = [policy('requests', 'day', 1), policy('concurrency', 'none', 1)];
    const admission = await start();
    // A file where the directory should be.
    rmSync(directory.path, { recursive: true });
    writeFileSync(directory.path, '');
    const refused = (error: unknown) => error instanceof RelayError && error.code === 'metering_unavailable';
    await assert.rejects(ask(admission, one), refused);
    await assert.rejects(ask(admission, []), refused);
    rmSync(directory.path);
    assert.equal((await ask(admission, one)).kind, 'admitted');
  });
});
