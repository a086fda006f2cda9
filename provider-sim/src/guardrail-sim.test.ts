import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type GuardrailSim, startGuardrailSim } from './guardrail-sim.ts';

const asked = { text: 'Hello.', stage: 'pre_dispatch', operation: 'chat', model: 'm', request_id: 'r' };

describe('the simulated guardrail', () => {
  let sim: GuardrailSim;
  before(async () => {
    sim = await startGuardrailSim({ serviceKey: 'k' });
  });
  after(() => sim.close());

  async function ask(url: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  it('says what its address says, and logs what it was asked', async () => {
    assert.deepEqual(await ask(sim.urlOf('block', 'a'), asked), { status: 200, text: '{"verdict":"block"}' });
    assert.deepEqual(await ask(sim.urlOf('judge'), { ...asked, text: 'a forbidden word' }), {
      status: 200,
      text: '{"verdict":"block"}',
    });
    assert.equal((await ask(sim.urlOf('status-500'), asked)).status, 500);
    assert.equal((await ask(sim.urlOf('redirect'), asked)).status, 302);
    await assert.rejects(ask(sim.urlOf('reset'), asked));
    await assert.rejects(ask(sim.urlOf('cut'), asked));
    const { path, body, violations } = sim.log[0] ?? {};
    assert.deepEqual({ path, body, violations }, { path: '/custom/a/block', body: asked, violations: [] });
  });

  it('refuses what no gateway may send', async () => {
    const wrong = [
      ask(sim.urlOf('allow'), { ...asked, text: undefined }),
      ask(sim.urlOf('allow'), { ...asked, model: '{{model}}' }),
      ask(sim.urlOf('allow'), '{"text":'),
      ask(sim.urlOf('allow'), asked, { 'x-relay-context': 'x' }),
      ask(sim.urlOf('allow'), asked, { 'content-type': 'text/plain' }),
    ];
    for (const answered of await Promise.all(wrong)) assert.equal(answered.status, 400);
  });

  it('speaks for the services: their key, their request, their answer', async () => {
    const url = sim.serviceUrlOf('azure');
    const body = { text: 'forbidden', categories: ['Hate'], outputType: 'FourSeverityLevels' };
    assert.equal((await ask(url, body)).status, 401);
    const key = { 'ocp-apim-subscription-key': 'k' };
    assert.equal((await ask(url, { text: 'forbidden' }, key)).status, 400);
    assert.match((await ask(url, body, key)).text, /"severity":4/);
  });
});
