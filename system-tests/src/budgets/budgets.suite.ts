import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { adminClient } from '../harness/admin-client.ts';
import { type Answer, ask, type Costs, readCosts } from '../harness/ask-company.ts';
import { type Company, LANES, type Member, startCompany } from '../harness/company.ts';
import { reportFigures } from '../harness/figures.ts';
import { LANE, startHostedDeployment } from '../harness/hosted-deployment.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { onServers, storeServers } from '../harness/stores.ts';
import { afterMs } from '../harness/until.ts';
import {
  type Budget,
  changeBudget,
  createBudget,
  listBudgets,
  METRICS,
  SUBJECTS,
  TARGETS,
} from './budget.ts';
import { checkReach, exhaust, WORTH_REQUESTS, wrongRefusal } from './exhaust.ts';

// Budgets of members and keys, created through the API of one process and enforced by both.

const hosted = onServers(
  'its organizations are put into the database, and its roles are processes of their own',
);

/** How long a lower limit may take to be in force everywhere. */
const LOWERED_MS_MAX = 1_000;
const LEDGER_MS_MAX = 20_000;

let company: Company;
let stranger: Member;
let costs: Costs;
const budgets: Budget[] = [];
let made = 0;
let wrong = 0;

before(async () => {
  company = await startCompany();
  stranger = await company.addMember();
  await company.deployment.everywhere();
  costs = await readCosts(company, stranger.keys[0].key, LANES.first);
});
after(async () => {
  reportFigures({ budgets: made, wrong });
  await company.stop();
});

async function newBudget(member: Member, setup: Omit<Budget, 'id' | 'member'>): Promise<Budget> {
  made += 1;
  return createBudget(company, member, setup);
}

function demandNothing(problems: readonly string[]): void {
  wrong += problems.length;
  assert.deepEqual(problems, []);
}

const onFirst = (key: string, process: number) =>
  ask(company, { key, model: LANES.first, process, tag: 'one by one' });

/** Until the ledger holds every request that reached the provider. */
async function untilInLedger(): Promise<void> {
  const deadlineMs = performance.now() + LEDGER_MS_MAX;
  const expected = company.deployment.provider.log.length;
  for (;;) {
    const rows = (await readRequestLog(company.admin)).filter(({ usage_source }) => usage_source !== 'none');
    if (rows.length === expected) return;
    if (performance.now() > deadlineMs) throw new Error(`${rows.length} of ${expected} are in the ledger`);
    await afterMs(100);
  }
}

describe('a budget of a member or of a key, on everything, a provider, a model or a lane', () => {
  before(async () => {
    for (const subject of SUBJECTS) {
      for (const target of TARGETS) {
        for (const metric of METRICS) {
          const limit = WORTH_REQUESTS * costs.estimated[metric];
          budgets.push(await newBudget(await company.addMember(), { subject, target, metric, limit }));
        }
      }
    }
    await company.deployment.everywhere();
  });

  for (const metric of METRICS) {
    it(`over ${metric} serves exactly what it pays for, however many ask both processes at once`, async () => {
      const these = budgets.filter((budget) => budget.metric === metric);
      demandNothing((await Promise.all(these.map((budget) => exhaust(company, budget)))).flat());
    });
  }

  it('binds whom it was made for and where it was made for, and nobody and nowhere else', async () => {
    // What was estimated is settled by now; less than one more request may have come back.
    for (const metric of METRICS) {
      const givenBack = WORTH_REQUESTS * (costs.estimated[metric] - costs.actual[metric]);
      assert.ok(givenBack < costs.estimated[metric], `${metric}: the estimate is too far from the use`);
    }
    await untilInLedger();
    for (const budget of budgets) demandNothing(await checkReach(company, budget, stranger));
  });

  it('shows what it has used to its owner, and to nobody else who may see only their own', async () => {
    const budget = budgets.find(({ subject, metric }) => subject === 'api_key' && metric === 'requests');
    assert.ok(budget);
    const seenBy = async (key: string) => {
      const { url } = company.deployment;
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${url}/api/relay/limits/usage`, { headers });
      return (await response.json()) as { policy_id: string; used: number; remaining: number }[];
    };
    const own = await seenBy(budget.member.keys[1].key);
    assert.deepEqual(
      own.map(({ policy_id, used, remaining }) => [policy_id, used, remaining]),
      [[budget.id, WORTH_REQUESTS, 0]],
    );
    assert.deepEqual(await seenBy(stranger.keys[0].key), []);
  });

  storeServers.it(
    'is as spent as before when Redis has lost everything, by what the ledger holds',
    async () => {
      // Some budgets are raised by two requests: exactly two more must be accepted.
      const roomy: Budget[] = [];
      for (const budget of budgets.filter(({ metric }) => metric === 'requests')) {
        const limit = budget.limit + 2;
        await changeBudget(company, budget, limit);
        roomy.push({ ...budget, limit });
      }
      await company.deployment.everywhere();
      await untilInLedger();
      await company.deployment.redis.kill();
      await company.deployment.redis.start();
      const deadlineMs = performance.now() + 15_000;
      const { processes, adminToken } = company.deployment;
      for (const { url } of processes) {
        while ((await adminClient(url, adminToken).call('GET', '/api/relay/limits/usage')).status !== 200) {
          assert.ok(performance.now() < deadlineMs, 'the store of limits did not come back');
          await afterMs(100);
        }
      }
      demandNothing((await Promise.all(roomy.map((budget) => exhaust(company, budget, 2)))).flat());
      const others = budgets.filter(({ metric }) => metric !== 'requests');
      for (const budget of [...roomy, ...others]) demandNothing(await checkReach(company, budget, stranger));
    },
  );
});

describe('budgets together', () => {
  it('bind by the tightest, and say which it was', async () => {
    const member = await company.addMember();
    const common = { target: 'global', metric: 'requests' } as const;
    const ofUser = await newBudget(member, { ...common, subject: 'user', limit: 5 });
    const ofKey = await newBudget(member, { ...common, subject: 'api_key', limit: 2 });
    await company.deployment.everywhere();
    const [first, second] = member.keys;
    const statuses: number[] = [];
    const answers: Answer[] = [];
    for (const key of [first, first, first, second, second, second, second]) {
      const answer = await onFirst(key.key, answers.length % 2);
      statuses.push(answer.status);
      answers.push(answer);
    }
    assert.deepEqual(statuses, [200, 200, 429, 200, 200, 200, 429]);
    const [third, last] = [answers[2], answers[6]];
    assert.ok(third && last);
    demandNothing([...wrongRefusal(company, ofKey, third), ...wrongRefusal(company, ofUser, last)]);
  });
});

describe('a key that replaces another', () => {
  it('inherits no budget and nothing that was used', async () => {
    const member = await company.addMember();
    const setup = { subject: 'api_key', target: 'global', metric: 'requests', limit: 2 } as const;
    const budget = await newBudget(member, setup);
    await company.deployment.everywhere();
    const old = member.keys[0];
    for (const expected of [200, 200, 429]) assert.equal((await onFirst(old.key, 0)).status, expected);
    assert.equal((await company.admin.call('DELETE', `/api/org/api-keys/${old.id}`)).status, 204);
    const replacement = await company.addKey(member);
    for (let count = 0; count < 5; count += 1)
      assert.equal((await onFirst(replacement.key, count % 2)).status, 200);
    const listed = await listBudgets(company, 'api_key');
    assert.ok(listed.every((each) => each['api_key_uuid'] !== replacement.id));
    assert.ok(listed.some((each) => each['limit_uuid'] === budget.id));
  });
});

describe('a limit that is lowered', () => {
  for (const subject of SUBJECTS) {
    it(`binds everywhere within ${LOWERED_MS_MAX} ms (${subject})`, async () => {
      const member = await company.addMember();
      const setup = { subject, target: 'global', metric: 'requests', limit: 1_000 } as const;
      const budget = await newBudget(member, setup);
      await company.deployment.everywhere();
      for (const process of [0, 1]) assert.equal((await onFirst(member.keys[0].key, process)).status, 200);
      await changeBudget(company, budget, 1);
      const loweredMs = performance.now();
      const lowered = { ...budget, limit: 1 };
      const boundMs = await Promise.all(
        [0, 1].map(async (process) => {
          for (;;) {
            const answer = await onFirst(member.keys[0].key, process);
            const afterMs = performance.now() - loweredMs;
            if (answer.status === 429) {
              demandNothing(wrongRefusal(company, lowered, answer));
              return afterMs;
            }
            if (afterMs > 5 * LOWERED_MS_MAX) return afterMs;
          }
        }),
      );
      const late = boundMs.filter((ms) => ms > LOWERED_MS_MAX);
      demandNothing(late.map((ms) => `${subject}: bound after ${Math.round(ms)} ms`));
    });
  }
});

describe('budgets of a hosted deployment', () => {
  hosted.it('are made, held to and shown through the platform, by the owner and with a key', async () => {
    const hosted = await startHostedDeployment();
    try {
      const { key, keyId, userId } = hosted.acme;
      const api = adminClient(hosted.platform.url, key);
      const limit = { target_type: 'global', metric: 'requests', period: 'month', enabled: true };
      const writes = [
        ['/api/relay/api-key-limit-policies', { ...limit, api_key_uuid: keyId, limit_value: 2 }],
        ['/api/relay/pro/user-limit-policies', { ...limit, user_uuid: userId, limit_value: 50 }],
      ] as const;
      for (const [path, body] of writes) {
        made += 1;
        const answer = await api.call('POST', path, body);
        assert.deepEqual([answer.status, answer.body], [200, { ok: true }]);
      }
      await company.deployment.everywhere();
      const messages = [{ role: 'user', content: 'Count.' }];
      const statuses: number[] = [];
      for (let count = 0; count < 3; count += 1) {
        const answer = await api.call('POST', '/v1/chat/completions', { model: LANE, messages });
        statuses.push(answer.status);
      }
      demandNothing(
        statuses.join() === '200,200,429' ? [] : [`a key that may send 2 got ${statuses.join()}`],
      );
      const usage = await api.call('GET', '/api/relay/limits/usage');
      const seen = (usage.body as { policy_kind: string; used: number }[]).map(({ policy_kind, used }) => [
        policy_kind,
        used,
      ]);
      assert.deepEqual(seen, [
        ['user', 2],
        ['api_key', 2],
      ]);
    } finally {
      await hosted.stop();
    }
  });
});
