import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
} from '@relay/testbed';
import { type ProviderLog, startProviderLog, tagOf } from '../chaos/provider-log.ts';
import { ask } from '../chaos/request.ts';
import { compare, exceededMinute } from '../failover/judge.ts';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { openLedgerView } from '../harness/ledger-view.ts';
import { type RelayProcess, runRelay, startRefused, startRelay } from '../harness/relay-process.ts';
import { afterMs, until } from '../harness/until.ts';
import { checkOutPreviousVersion, type PreviousVersion } from './previous-version.ts';

// One Redis and one database, first used by a fleet of the previous version and then by one of this version. What each lane's limit allows:
const LIMITS = { minute: 40, day: 100_000, free: null } as const;
type LaneName = keyof typeof LIMITS;
const REQUESTS_PER_S = 15;
const START_MS_MAX = 180_000;
/** A request that is in flight when its gateway is killed. */
const SLOW_MS = 30_000;
const SLOW = 3;

const figures: Record<string, unknown> = {};
let previous: PreviousVersion;
let postgres: PrivatePostgres;
let redis: PrivateRedis;
let provider: ProviderLog;
let tokens: { apiToken: string; adminToken: string; env: Readonly<Record<string, string>> };
let dayPolicyId: string;
let old: RelayProcess[] = [];
let fleet: RelayProcess[] = [];
let sent = 0;

before(
  async () => {
    previous = checkOutPreviousVersion();
    [postgres, redis, provider] = await Promise.all([startPostgres(), startRedis(), startProviderLog()]);
    tokens = selfHostedEnvironment({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
    const start = () => startRelay({ env: tokens.env, entry: previous.entry });
    old = [await start(), await start()];
    await addLanes();
  },
  { timeout: START_MS_MAX },
);
after(async () => {
  reportFigures(figures);
  await Promise.all([...old, ...fleet].map((each) => each.kill()));
  await Promise.all([postgres.remove(), redis.remove(), provider.stop()]);
  previous.remove();
});

async function addLanes(): Promise<void> {
  const admin = adminClient(old[0]?.url ?? '', tokens.adminToken, true);
  for (const [name, limit] of Object.entries(LIMITS)) {
    const { endpointIds } = await createLane(admin, {
      name,
      endpoints: [
        { baseUrl: provider.process.baseUrl, upstreamModel: 'sim-multi', endpoint: { pacing: false } },
      ],
      // The previous version does not know `takes_over`.
      lane: { default_max_wait_ms: 0, takes_over: undefined },
    });
    if (limit === null) continue;
    const policy = await admin.create('/api/relay/limit-policies', {
      scope_type: 'endpoint',
      scope_id: endpointIds[0],
      metric: 'requests',
      period: name,
      limit_value: limit,
      enabled: true,
    });
    if (name === 'day') dayPolicyId = policy.id;
  }
  // There is no event to await: a process learns of a change when it looks.
  await afterMs(1_500);
}

function send(url: string, lane: LaneName, delayMs: number): Promise<string> {
  sent += 1;
  const asking = {
    tag: `${lane}-${sent}`,
    target: { token: tokens.apiToken, model: lane },
    kind: 'chat',
    sim: { outputTokens: 5, delayMs },
    words: 'Count.',
    hangUpAfterMs: null,
  } as const;
  return ask(url, asking).then(({ status }) => `${lane} ${status}`);
}

type AnswerCounts = Readonly<Record<string, number>>;

/** Requests at a steady rate while the work runs, which sees the answers so far. Returns how many got which answer. */
async function under(
  processes: readonly RelayProcess[],
  work: (counts: AnswerCounts) => Promise<unknown>,
): Promise<AnswerCounts> {
  const counts: Record<string, number> = {};
  const answers: Promise<void>[] = [];
  const count = (answer: string) => {
    counts[answer] = (counts[answer] ?? 0) + 1;
  };
  const timer = setInterval(() => {
    const { url } = processes[sent % processes.length] ?? { url: '' };
    answers.push(send(url, sent % 3 === 0 ? 'day' : 'minute', 50).then(count));
  }, 1_000 / REQUESTS_PER_S);
  await work(counts);
  clearInterval(timer);
  await Promise.all(answers);
  return counts;
}

/** Whether every request of the limited lanes that the provider saw has its row. */
async function isWritten(): Promise<boolean> {
  const ledger = openLedgerView(postgres.url);
  try {
    const tags = new Set((await ledger.rows()).map(({ tag }) => tag));
    const seen = (await provider.entries()).map(tagOf).filter((tag) => !tag.startsWith('free'));
    return seen.every((tag) => tags.has(tag));
  } finally {
    await ledger.close();
  }
}

async function rowCount(): Promise<number> {
  const ledger = openLedgerView(postgres.url);
  try {
    return (await ledger.rows()).length;
  } finally {
    await ledger.close();
  }
}

const ANSWERS = ['day 200', 'minute 200', 'minute 429'];

describe('the previous version and this one, on one Redis and one database', { concurrency: 1 }, () => {
  it('no process of this version starts while one of the previous runs, which serves on', async () => {
    const answers = await under(old, async (counts) => {
      for (const role of ['all', 'inference', 'worker']) {
        const { code, stderr } = await startRefused({ env: tokens.env, role });
        assert.notEqual(code, 0, role);
        assert.match(stderr, /Processes that run another version are using this Redis/);
      }
      // A fast machine refuses all three before the minute is full.
      await until(() => 'minute 429' in counts, 20_000);
    });
    figures['beside'] = answers;
    assert.deepEqual(Object.keys(answers).sort(), ANSWERS);
  });

  it('the previous version serves on after the database was migrated', async () => {
    const rowsBefore = await rowCount();
    const answers = await under(old, async () => {
      const applied = await runRelay(['migrate', 'up'], tokens.env);
      figures['migrations_under_load'] = applied.match(/^applied /gm)?.length ?? 0;
      await afterMs(1_000);
    });
    const failed = Object.entries(answers).filter(([answer]) => !ANSWERS.includes(answer));
    figures['migrated_rows'] = rowsBefore;
    figures['migrated'] = answers;
    figures['failed_requests'] = failed.reduce((sum, [, count]) => sum + count, 0);
    assert.ok(
      rowsBefore > 0 && Number(figures['migrations_under_load']) > 0,
      'there was something to migrate',
    );
    assert.deepEqual(
      Object.keys(answers).filter((each) => !ANSWERS.includes(each)),
      [],
    );
    assert.ok((answers['day 200'] ?? 0) > 0);
    assert.ok(await until(isWritten, 20_000), 'its worker writes rows');
  });

  it('after its last process, this version loses no row, doubles none, and exceeds no limit', async () => {
    const [first, second] = old;
    assert.ok(first !== undefined && second !== undefined);
    const cut = Array.from({ length: SLOW }, () => send(second.url, 'free', SLOW_MS));
    const inFlight = async () =>
      (await provider.entries()).filter((entry) => tagOf(entry).startsWith('free')).length === SLOW;
    assert.ok(await until(inFlight, 20_000));
    // Fills the minute again, as far as the limit allows.
    await under(old, () => afterMs(3_000));
    assert.equal(await first.stop(), 0);
    assert.ok(await until(isWritten, 20_000));
    await second.kill();
    await Promise.all(cut);
    fleet = await Promise.all([startRelay({ env: tokens.env }), startRelay({ env: tokens.env })]);
    const answers = await under(fleet, () => afterMs(6_000));
    figures['after'] = answers;
    assert.ok((answers['day 200'] ?? 0) > 0);
    assert.deepEqual(
      Object.keys(answers).filter((each) => !ANSWERS.includes(each)),
      [],
    );

    const admin = adminClient(fleet[0]?.url ?? '', tokens.adminToken);
    const result = await compare({ databaseUrl: postgres.url, provider, admin, dayPolicyId });
    const entries = await provider.entries();
    const ofMinute = entries.filter((entry) => tagOf(entry).startsWith('minute'));
    const exceeded = exceededMinute(ofMinute, LIMITS.minute);
    Object.assign(figures, {
      provider: entries.length,
      lost: result.lost.length,
      duplicated: result.duplicated.length,
      exceeded,
    });
    assert.deepEqual({ ...result, exceeded }, { lost: [], duplicated: [], difference: 0, exceeded: 0 });
  });
});
