import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type Ask, ask } from '../harness/ask-company.ts';
import { type Company, LANES, type Member, startCompany } from '../harness/company.ts';
import { reportFigures } from '../harness/figures.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { storeServers } from '../harness/stores.ts';
import { afterMs } from '../harness/until.ts';

// Budgets of a team and of its parent, shared by keys and members, enforced by both processes and shown by Showback.

const TEAM_REQUESTS = 6;
const COMPANY_REQUESTS = 14;
const TOO_MANY = 6;
/** None is settled before all are decided. */
const DELAY_MS = 700;
const LEDGER_MS_MAX = 20_000;
const REBUILT_MS_MAX = 20_000;

interface Line {
  readonly key: string | null;
  readonly requests: number;
  readonly metered_requests: number;
  readonly cost_micros: number;
  readonly cost_usd: string;
}

describe('teams', () => {
  let company: Company;
  let parentId = '';
  let searchId = '';
  let adsId = '';
  let searcher: Member;
  let advertiser: Member;
  let parentPolicyId = '';
  let served = 0;
  let wrong = 0;

  before(async () => {
    company = await startCompany();
    parentId = await newTeam('Company', null);
    searchId = await newTeam('Search', parentId);
    adsId = await newTeam('Ads', parentId);
    [searcher, advertiser] = [await company.addMember(), await company.addMember()];
    // One team by its keys, the other by the default of its member.
    for (const [index, { id }] of searcher.keys.entries())
      await change('PUT', `/api/org/api-keys/${id}`, { team_id: searchId, labels: { app: `app${index}` } });
    await change('PATCH', `/api/org/members/${advertiser.userId}`, { team_id: adsId });
    await budget(parentId, COMPANY_REQUESTS);
    await budget(searchId, TEAM_REQUESTS);
    parentPolicyId = (await policiesOf(parentId))[0] ?? '';
    await company.deployment.everywhere();
  });
  after(async () => {
    reportFigures({ served, wrong });
    await company.stop();
  });

  async function newTeam(name: string, parent_id: string | null): Promise<string> {
    return (await company.admin.create('/api/relay/teams', { name, kind: 'team', parent_id })).id;
  }

  async function change(method: 'PUT' | 'PATCH' | 'POST', path: string, body: object): Promise<void> {
    const answer = await company.admin.call(method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  }

  const budget = (team_uuid: string, limit_value: number, over = {}) =>
    change('POST', '/api/relay/team-limit-policies', {
      team_uuid,
      target_type: 'global',
      metric: 'requests',
      period: 'week',
      limit_value,
      ...over,
    });

  async function policiesOf(teamId: string): Promise<string[]> {
    const { body } = await company.admin.call('GET', `/api/relay/team-limit-policies?team_uuid=${teamId}`);
    return (body as { policies: { limit_uuid: string }[] }).policies.map(({ limit_uuid }) => limit_uuid);
  }

  /** More than may pass, concurrently and to both processes; how many were served. */
  async function send({ keys }: Member, count: number, delayMs = DELAY_MS): Promise<number> {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        decided({
          key: keys[index % 2]?.key ?? '',
          model: LANES.first,
          process: (index >> 1) % 2,
          tag: 'team',
          delayMs,
        }),
      ),
    );
    for (const answer of answers) if (answer.status !== 200) demandRefusal(answer);
    const passed = answers.filter(({ status }) => status === 200).length;
    served += passed;
    return passed;
  }

  /** While live state is rebuilt, 503 decides nothing. */
  async function decided(asked: Ask): Promise<Answer> {
    const deadlineMs = performance.now() + REBUILT_MS_MAX;
    for (;;) {
      const answer = await ask(company, asked);
      if (answer.status !== 503 || performance.now() > deadlineMs) return answer;
      await afterMs(100);
    }
  }

  function demandRefusal({ status, error }: Answer): void {
    const isOurs = status === 429 && error?.policy?.['policy_kind'] === 'team';
    if (!isOurs) wrong += 1;
    assert.ok(isOurs, `${status} ${JSON.stringify(error)}`);
    assert.match(error?.message ?? '', /per week on this team’s requests/);
  }

  /** Until the ledger holds every request that reached the provider. */
  async function untilInLedger(): Promise<void> {
    const deadlineMs = performance.now() + LEDGER_MS_MAX;
    const expected = company.deployment.provider.log.length;
    for (;;) {
      const rows = (await readRequestLog(company.admin)).filter(
        ({ usage_source }) => usage_source !== 'none',
      );
      if (rows.length === expected) return;
      if (performance.now() > deadlineMs) throw new Error(`${rows.length} of ${expected} are in the ledger`);
      await afterMs(100);
    }
  }

  async function showback(groupBy: string): Promise<{ lines: Line[]; total: Line }> {
    const { status, body } = await company.admin.call('GET', `/api/relay/stats/showback?group_by=${groupBy}`);
    assert.equal(status, 200);
    return body as { lines: Line[]; total: Line };
  }

  const meteredOf = (lines: readonly Line[], key: string | null) =>
    lines.find((line) => line.key === key)?.metered_requests ?? 0;

  it('a team gets exactly its budget, and its parent counts it together with other teams', async () => {
    assert.equal(await send(searcher, TEAM_REQUESTS + TOO_MANY), TEAM_REQUESTS);
    const left = COMPANY_REQUESTS - TEAM_REQUESTS;
    assert.equal(await send(advertiser, left + TOO_MANY), left);
  });

  it('showback divides what was spent by team and by label, and adds up to the total', async () => {
    await untilInLedger();
    const byTeam = await showback('team');
    assert.equal(meteredOf(byTeam.lines, searchId), TEAM_REQUESTS);
    assert.equal(meteredOf(byTeam.lines, adsId), COMPANY_REQUESTS - TEAM_REQUESTS);
    const byLabel = await showback('label:app');
    assert.equal(
      meteredOf(byLabel.lines, 'app0') + meteredOf(byLabel.lines, 'app1'),
      TEAM_REQUESTS,
      JSON.stringify(byLabel.lines),
    );
    for (const { lines, total } of [byTeam, byLabel, await showback('key'), await showback('member')]) {
      const sum = (of: 'requests' | 'metered_requests') => lines.reduce((all, line) => all + line[of], 0);
      assert.deepEqual([sum('requests'), sum('metered_requests')], [total.requests, total.metered_requests]);
      assert.equal(total.metered_requests, COMPANY_REQUESTS);
    }
    const { url, adminToken } = company.deployment;
    const csv = await fetch(`${url}/api/relay/stats/showback.csv?format=focus`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const [head, ...records] = (await csv.text()).trim().split('\r\n');
    assert.ok(head?.startsWith('BilledCost,BillingAccountId'), head);
    const billed = records.reduce((sum, record) => sum + Number(record.split(',')[0]), 0);
    assert.equal(billed.toFixed(6), Number(byTeam.total.cost_usd).toFixed(6));
  });

  storeServers.it('a team is as spent as before when Redis has lost everything', async () => {
    await budget(parentId, COMPANY_REQUESTS + 2, { limit_uuid: parentPolicyId });
    await company.deployment.everywhere();
    await company.deployment.redis.kill();
    await company.deployment.redis.start();
    assert.equal(await send(advertiser, 2 + TOO_MANY), 2);
    assert.equal(await send(searcher, 2), 0);
  });

  it('a key that moves to another team counts there from then on, and its past stays', async () => {
    await untilInLedger();
    const before = meteredOf((await showback('team')).lines, searchId);
    await budget(parentId, COMPANY_REQUESTS + 10, { limit_uuid: parentPolicyId });
    const [key] = searcher.keys;
    await change('PUT', `/api/org/api-keys/${key.id}`, { team_id: adsId });
    await company.deployment.everywhere();
    const answer = await ask(company, { key: key.key, model: LANES.first, process: 1, tag: 'moved' });
    assert.equal(answer.status, 200, JSON.stringify(answer.error));
    await untilInLedger();
    const { lines } = await showback('team');
    assert.equal(meteredOf(lines, searchId), before);
    assert.equal(
      meteredOf(lines, searchId) + meteredOf(lines, adsId),
      company.deployment.provider.log.length,
    );
  });
});
