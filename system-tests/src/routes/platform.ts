import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { ask, askAsWritten, chatBody, errorOf, preflight } from '../harness/ask-raw.ts';
import { APP_ORIGIN } from '../harness/shared-deployment.ts';
import type { World } from './world.ts';

const LANE = 'plain';

/** Behind a platform, single models, HEAD, trailing slashes, upgrades, challenges and CORS are as they are without one. */
export async function checkPlatform({ walk, client, inferenceUrl }: World): Promise<void> {
  const key = String(Object.values(client.headers)[0]).replace('Bearer ', '');
  const door = { url: walk.url, apiToken: key };
  const openai = new OpenAI({ baseURL: `${door.url}/v1`, apiKey: door.apiToken, maxRetries: 0 });
  assert.equal((await openai.models.retrieve(LANE)).id, LANE);
  assert.equal((await openai.models.retrieve('plain-1/sim-multi')).id, 'plain-1/sim-multi');
  await assert.rejects(openai.models.retrieve('nothing'), OpenAI.NotFoundError);
  for (const path of ['/v1/models/..%2f..%2fapi%2frelay%2fproviders', '/v1/models/../../metrics']) {
    assert.equal((await askAsWritten(door, path)).status, 404, path);
  }

  for (const path of ['/v1/models', `/v1/models/${LANE}`, '/v1/models/', '/v1/models/nothing']) {
    const [head, got] = [await ask(door, path, { method: 'HEAD' }), await ask(door, path)];
    assert.deepEqual([head.status, head.body.length], [got.status, 0], path);
    assert.equal(head.headers['content-length'], got.headers['content-length'], path);
    assert.equal(head.headers['content-type'], 'application/json');
  }
  const chat = await ask(door, '/v1/chat/completions/', { body: chatBody(LANE) });
  assert.equal(chat.status, 200);

  const handshake = { connection: 'Upgrade', upgrade: 'websocket', authorization: '' };
  const upgraded = await ask(door, '/v1/responses', { headers: handshake });
  assert.deepEqual([upgraded.status, errorOf(upgraded)['code']], [426, 'upgrade_required']);
  const stranger = await ask(door, '/v1/models', { headers: { authorization: 'bearer  rly_nobody' } });
  assert.equal(stranger.headers['www-authenticate'], 'Bearer realm="relay", error="invalid_token"');

  const asked = await ask(door, '/v1/chat/completions', preflight(APP_ORIGIN));
  assert.deepEqual([asked.status, asked.headers['access-control-allow-origin']], [204, APP_ORIGIN]);
  const page = { body: chatBody(LANE), headers: { origin: APP_ORIGIN } };
  const answer = await ask(door, '/v1/chat/completions', page);
  assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [200, APP_ORIGIN]);
  const direct = await ask({ ...door, url: inferenceUrl }, '/v1/models', preflight(APP_ORIGIN));
  assert.equal(direct.headers['access-control-allow-origin'], undefined);
}
