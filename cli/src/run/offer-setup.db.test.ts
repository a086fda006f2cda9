import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { type StartedServer, start } from '@relay/server';
import { freePort } from '@relay/testbed';
import { type Api, createApi, dataOf } from '../api/client.ts';
import { processSurroundings, type Surroundings } from '../kit/surroundings.ts';
import type { Source } from '../sources/find-sources.ts';
import { offerSetup } from './offer-setup.ts';
import { firstAnswerText } from './started-text.ts';

let directory: string;
let server: StartedServer;
let provider: ProviderSim;
let api: Api['management'];

function source(over: Partial<Source> = {}): Source {
  return {
    slug: 'openai',
    name: 'OpenAI',
    seen: 'OPENAI_API_KEY',
    baseUrl: provider.baseUrl,
    secret: 'sk-upstream',
    choose: (models) => models.slice(0, 2),
    ...over,
  };
}

/** What is printed; `typed` is what a person answers on a terminal. */
async function offer(
  sources: readonly Source[],
  { isWanted = false, typed }: { isWanted?: boolean; typed?: string } = {},
): Promise<string> {
  const screen = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  if (typed !== undefined) stdin.write(`${typed}\n`);
  const surroundings: Surroundings = {
    ...processSurroundings(),
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: screen as unknown as NodeJS.WriteStream,
    stderr: screen as unknown as NodeJS.WriteStream,
  };
  await offerSetup(surroundings, {
    url: server.url,
    adminToken: server.tokens?.admin ?? '',
    directory: server.directory,
    tryLane: (lane) => firstAnswerText(server, lane, true),
    isWanted,
    signal: new AbortController().signal,
    find: async () => [...sources],
  });
  return screen.read()?.toString() ?? '';
}

async function state() {
  const [providers, endpoints, lanes, members] = await Promise.all([
    dataOf(api.GET('/api/relay/providers')),
    dataOf(api.GET('/api/relay/endpoints')),
    dataOf(api.GET('/api/relay/routing-lanes')),
    dataOf(api.GET('/api/relay/lane-memberships')),
  ]);
  return {
    providers: providers.map(({ name, has_credential }) => `${name} ${has_credential}`),
    endpoints: endpoints.map(({ upstream_model }) => upstream_model).sort(),
    lanes: lanes.map(({ slug }) => slug),
    members: members.length,
  };
}

const EMPTY = { providers: [], endpoints: [], lanes: [], members: 0 };
const COMPLETE = {
  providers: ['OpenAI true'],
  endpoints: ['one', 'two'],
  lanes: ['default'],
  members: 2,
};

describe('relay start with a provider in sight', () => {
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'relay-detect-'));
    provider = await startProviderSim({ models: [{ id: 'one' }, { id: 'two' }, { id: 'three' }] });
    // Listens on loopback, so the simulated provider there is allowed.
    server = await start({
      source: { RELAY_LOG_LEVEL: 'silent' },
      directory: join(directory, 'data'),
      port: await freePort(),
    });
    const tokens = { management: server.tokens?.admin ?? '', inference: null };
    api = createApi(processSurroundings(), { server: server.url, contextName: null, tokens }).management;
  });
  after(async () => {
    await server?.stop();
    await provider?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('without a terminal, prints the command and sets up nothing', async () => {
    assert.match(
      await offer([source()]),
      /Found OPENAI_API_KEY\. To set up OpenAI with its models and a lane, run: relay start --detect/,
    );
    assert.equal(await offer([]), '');
    assert.deepEqual(await state(), EMPTY);
  });

  it('leaves out a provider that does not answer, and says why', async () => {
    const unreachable = source({ baseUrl: 'http://127.0.0.1:1/v1' });
    assert.match(
      await offer([unreachable], { isWanted: true }),
      /OpenAI was not added\. .*refuses connections/,
    );
    assert.deepEqual(await state(), EMPTY);
  });

  it('asks once: a no is remembered', async () => {
    assert.match(
      await offer([source()], { typed: 'n' }),
      /Set up OpenAI with its models and a lane\? \[Y\/n\][\s\S]*Not set up/,
    );
    assert.equal(await offer([source()], { typed: 'y' }), '');
    assert.deepEqual(await state(), EMPTY);
  });

  it('sets up provider, endpoints and lane, and nothing twice', async () => {
    const text = await offer([source()], { isWanted: true });
    assert.match(
      text,
      /Added OpenAI:\n {4}one \(no price\)\n {4}two \(no price\)\n {2}Lane default routes to them[\s\S]*curl .*chat\/completions/,
    );
    assert.ok(!text.includes('sk-upstream'));
    assert.deepEqual(await state(), COMPLETE);
    await offer([source()], { isWanted: true });
    assert.deepEqual(await state(), COMPLETE);
    assert.equal(await offer([source()]), '');
  });

  it('serves a request through the lane', async () => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.tokens?.api}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(response.status, 200, await response.text());
  });

  it('leaves what a person took out of the lane', async () => {
    const [member] = await dataOf(api.GET('/api/relay/lane-memberships'));
    const params = { path: { membership_id: member?.id ?? '' } };
    await api.DELETE('/api/relay/lane-memberships/{membership_id}', { params });
    await offer([source()], { isWanted: true });
    assert.equal((await state()).members, 1);
  });
});
