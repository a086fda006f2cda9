import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ProviderPreset, ProviderTestResult } from '@relay/contract';
import {
  type ProviderSim,
  type RequestLogEntry,
  serviceAccounts,
  startProviderSim,
} from '@relay/provider-sim';
import { makeServiceAccount } from '@relay/testbed';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { type Example, examples } from './examples.ts';

// Each preset's request as it leaves, against the example of the provider's documentation. No provider is called: the simulated one
// takes the place of its host.

const PROMPT = 'Say this is a test!';
const MESSAGES = [{ role: 'user', content: PROMPT }];
const TOKENS = 16;
/** What every request has, whatever the provider. */
const USUAL = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'user-agent',
]);

const account = makeServiceAccount('presets');

let deployment: Deployment;
let issuer: ProviderSim;
let presets: readonly ProviderPreset[];
let wrong = 0;

before(async () => {
  const models = Object.values(examples).map(({ model }) => model);
  deployment = await startDeployment({ provider: { anyPrefix: true, anonymous: true, models } });
  const keys = new Map([[account.keyId, account]]);
  issuer = await startProviderSim({ serviceAccounts: serviceAccounts({ keys, lifeMs: 60_000 }) });
  const answer = await deployment.admin.call('GET', '/api/relay/provider-presets');
  presets = answer.body as ProviderPreset[];
});

after(async () => {
  await deployment.stop();
  await issuer.close();
  reportFigures({ presets: presets.length, wrong });
});

function counted(name: string, work: () => Promise<void>): void {
  it(name, async () => {
    try {
      await work();
    } catch (error) {
      wrong += 1;
      throw error;
    }
  });
}

interface Made {
  /** The host of the documentation, which the simulated provider stands for. */
  readonly origin: string;
  readonly providerId: string;
  readonly endpointId: string;
  /** The name that clients call it by. */
  readonly called: string;
}

function secretFor(mode: ProviderPreset['auth_mode']): string {
  if (mode === 'aws_sigv4') return JSON.stringify({ access_key_id: 'AKIDEXAMPLE', secret_access_key: 'KEY' });
  return mode === 'google_service_account' ? account.secret(`${issuer.url}/token`) : 'KEY';
}

/** A provider of the preset with nothing filled in but the base URL, which has the simulated provider's host. */
async function make(slug: string, { values = {}, model }: Example): Promise<Made> {
  const { admin, provider: sim } = deployment;
  const preset = presets.find((each) => each.slug === slug);
  assert.ok(preset, `there is no preset ${slug}`);
  const filled = new URL(preset.base_url.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ''));
  const provider = await admin.create('/api/relay/providers', {
    name: preset.name,
    preset_slug: slug,
    base_url: sim.url + filled.pathname,
    // The host of the documentation has it in its name.
    ...(preset.auth_mode === 'aws_sigv4' ? { aws_region: values['region'] } : {}),
  });
  if (preset.auth_mode !== 'none') {
    const secret = secretFor(preset.auth_mode);
    await admin.create('/api/relay/credentials', { provider_id: provider.id, name: 'key', secret });
  }
  const endpoint = await admin.create('/api/relay/endpoints', {
    provider_id: provider.id,
    name: slug,
    upstream_model: model,
    route_kind: preset.route_kind,
  });
  return {
    origin: filled.origin,
    providerId: provider.id,
    endpointId: endpoint.id,
    called: `${String(provider['slug'])}/${model}`,
  };
}

/** What the simulated provider got meanwhile. */
async function gotDuring(work: () => Promise<unknown>): Promise<RequestLogEntry[]> {
  const { log } = deployment.provider;
  const lastId = log.at(-1)?.id ?? 0;
  await work();
  return log.filter(({ id }) => id > lastId);
}

/** The operation of the documentation's example, and how a client asks Relay for it. */
const OPERATIONS: Readonly<Record<string, { readonly content: object; readonly limit: string }>> = {
  '/chat/completions': { content: { messages: MESSAGES }, limit: 'max_completion_tokens' },
  '/responses': { content: { input: PROMPT }, limit: 'max_output_tokens' },
  '/messages': { content: { messages: MESSAGES }, limit: 'max_tokens' },
};

/** Asks Relay, and answers the content of the request. */
async function ask({ called }: Made, { url }: Example): Promise<object> {
  const [path, operation] = Object.entries(OPERATIONS).find(([each]) => url.includes(each)) ?? [];
  assert.ok(path !== undefined && operation !== undefined);
  const { content, limit } = operation;
  const response = await fetch(`${deployment.url}/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${deployment.apiToken}`,
      'content-type': 'application/json',
      ...(path === '/messages' ? { 'anthropic-version': '2023-06-01' } : {}),
    },
    body: JSON.stringify({ model: called, ...content, stream: true, [limit]: TOKENS }),
  });
  assert.equal(response.status, 200, await response.clone().text());
  await response.text();
  return content;
}

function checkHead(
  entry: RequestLogEntry | undefined,
  { origin }: Made,
  url: string,
  example: Example,
): void {
  assert.ok(entry, 'nothing was sent');
  const query = entry.query === '' ? '' : `?${entry.query}`;
  assert.equal(origin + entry.path + query, url);
  const sent = new Headers();
  for (let at = 0; at < entry.rawHeaders.length; at += 2)
    sent.append(entry.rawHeaders[at] ?? '', entry.rawHeaders[at + 1] ?? '');
  const particular = [...sent].filter(([name]) => !USUAL.has(name));
  assert.deepEqual(particular.map(([name]) => name).toSorted(), Object.keys(example.headers).toSorted());
  for (const [name, value] of particular) {
    const wanted = example.headers[name] ?? '';
    if (typeof wanted === 'string') assert.equal(value, wanted);
    else assert.match(value, wanted);
  }
}

describe('the request of each preset is that of its documentation', () => {
  counted('every preset has an example, and there are at least 22', () => {
    assert.deepEqual(presets.map(({ slug }) => slug).toSorted(), Object.keys(examples).toSorted());
    assert.ok(presets.length >= 22);
    return Promise.resolve();
  });

  for (const [slug, example] of Object.entries(examples)) {
    counted(slug, async () => {
      const made = await make(slug, example);
      let content = {};
      const [asked, ...more] = await gotDuring(async () => {
        content = await ask(made, example);
      });
      checkHead(asked, made, example.url, example);
      assert.equal(more.length, 0);
      assert.deepEqual(JSON.parse(String(asked?.body)), {
        model: example.model,
        ...content,
        stream: true,
        [example.limit]: TOKENS,
        ...(example.usageOnRequest ? { stream_options: { include_usage: true } } : {}),
      });

      const { admin } = deployment;
      const [probe] = await gotDuring(() =>
        admin.call('POST', `/api/relay/endpoints/${made.endpointId}/test`),
      );
      checkHead(probe, made, example.url, example);

      let outcome = '';
      const listed = await gotDuring(async () => {
        const { body } = await admin.call('POST', `/api/relay/providers/${made.providerId}/test`);
        outcome = (body as ProviderTestResult).outcome;
      });
      assert.equal(outcome, example.models === null ? 'no_model_list' : 'ok');
      if (example.models === null) assert.equal(listed.length, 0);
      else checkHead(listed.at(-1), made, example.models, example);
    });
  }
});
