import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { createLane } from '../../harness/admin-client.ts';
import { addLane, ask, askAsWritten, chatBody, errorOf, MODEL } from '../../harness/ask-raw.ts';
import type { Deployment } from '../../harness/deployment.ts';
import type { Manner } from '../manner.ts';

function client({ url, apiToken }: Deployment): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: apiToken, maxRetries: 0 });
}

/** The simulated provider does not serve it. */
const SLASHED = 'meta/llama 3/8b';
const FIELDS = ['created', 'id', 'object', 'owned_by'];

/** Where a path that is read twice, or not as it was written, would lead elsewhere. */
const CROOKED = [
  '/v1/models/..%2f..%2fapi%2frelay%2fproviders',
  '/v1/models/../../api/relay/providers',
  '/v1/models/%2e%2e/%2e%2e/healthz',
  '/v1/models/../chat/completions',
  '/v1/models//',
  '/v1/models/%00',
  '/v1/models/sim-multi%0d%0ax-injected:%201',
  '/v1/models/sim-multi%3finclude',
  '/v1/models/__proto__',
  '/v1/models/constructor',
  '/v1/models/%252e%252e%252fapi',
  '/v1/models;/sim-multi',
  '/V1/models',
  '/v1%2fmodels',
];

export const modelManners: readonly Manner[] = [
  {
    name: 'the OpenAI client retrieves a model, a lane by its slug, and a model of one provider',
    async check(site) {
      await addLane(site, 'retrieved');
      const openai = client(site);
      const listed = await openai.models.list();
      for (const id of [MODEL, 'retrieved']) {
        const found = await openai.models.retrieve(id);
        assert.equal(found.id, id);
        assert.deepEqual(Object.keys(found).sort(), FIELDS);
        assert.deepEqual(
          found,
          listed.data.find((each) => each.id === id),
        );
      }
      const found = await openai.models.retrieve(`retrieved-1/${MODEL}`);
      assert.deepEqual([found.id, found.owned_by], [`retrieved-1/${MODEL}`, 'retrieved-1']);
    },
  },
  {
    name: 'a model whose id has slashes is found, percent-encoded or not',
    async check(site) {
      await createLane(site.admin, {
        name: 'slashed',
        endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: SLASHED }],
      });
      for (const path of ['meta/llama%203/8b', 'meta%2Fllama%203%2F8b', 'slashed-1/meta%2Fllama%203/8b']) {
        const answer = await ask(site, `/v1/models/${path}`);
        assert.equal(answer.status, 200, path);
        const { id } = JSON.parse(answer.body.toString()) as { id: string };
        assert.equal(id, decodeURIComponent(path));
      }
    },
  },
  {
    name: 'a model that does not exist, a disabled lane and a hidden lane are 404',
    async check(site) {
      await addLane(site, 'off', { enabled: false });
      await addLane(site, 'secret', { hidden: true });
      for (const id of ['nothing-has-this-name', 'off', 'secret', 'off-1/other']) {
        await assert.rejects(client(site).models.retrieve(id), OpenAI.NotFoundError, id);
        const answer = await ask(site, `/v1/models/${id}`);
        assert.deepEqual([answer.status, errorOf(answer)['code']], [404, 'not_found']);
        assert.match(String(errorOf(answer)['message']), /GET \/v1\/models/);
      }
    },
  },
  {
    name: 'no path below /v1/models leads to anything else',
    async check(site) {
      for (const path of CROOKED) {
        const answer = await askAsWritten(site, path);
        assert.ok(answer.status === 404 || answer.status === 400, `${path}: ${answer.status}`);
        assert.equal(answer.headers['x-injected'], undefined);
        assert.equal(answer.headers['x-relay-error-source'], 'relay');
      }
      const stranger = await ask(site, `/v1/models/${MODEL}`, {
        headers: { authorization: 'Bearer nobody' },
      });
      assert.equal(stranger.status, 401);
      const written = await ask(site, `/v1/models/${MODEL}`, { method: 'DELETE' });
      assert.deepEqual([written.status, written.headers['allow']], [405, 'GET, HEAD']);
    },
  },
  {
    name: 'the model list names every upstream model and every lane that is not hidden, once, and each can be called',
    async check(site) {
      await addLane(site, 'shown');
      await addLane(site, 'not-shown', { hidden: true });
      await site.admin.create('/api/relay/routing-lanes', { name: 'without members' });
      const { laneId } = await addLane(site, 'shadow');
      const renamed = await site.admin.call('PUT', `/api/relay/routing-lanes/${laneId}`, {
        name: MODEL,
        default_max_wait_ms: 5_000,
        allow_fallback: true,
        enabled: true,
      });
      assert.ok(renamed.status === 200 || renamed.status === 409, `a lane named ${MODEL}: ${renamed.status}`);
      const ids = (await client(site).models.list()).data.map(({ id }) => id);
      assert.ok(ids.includes('shown') && ids.includes(MODEL), ids.join());
      assert.ok(!ids.includes('not-shown') && !ids.includes('without-members'), ids.join());
      assert.equal(new Set(ids).size, ids.length, 'an id is listed once');
      for (const id of ids.filter((each) => each !== SLASHED && each !== 'slashed')) {
        const answer = await ask(site, '/v1/chat/completions', { body: chatBody(id) });
        assert.equal(answer.status, 200, `${id}: ${answer.body.toString()}`);
      }
    },
  },
];
