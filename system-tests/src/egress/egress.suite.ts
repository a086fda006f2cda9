import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { type AddressForm, addressForms } from './address-forms.ts';
import { type Sink, startSink } from './sink.ts';

// Where requests may not go. One process allows no loopback but 127.0.0.2, where the provider lives; its
// answers are under test. Another on the same database allows all of loopback: it saves what the first would
// refuse, as an earlier configuration might have, and shows that the sink records a connection that reaches it.

const PROVIDER_HOST = '127.0.0.2';
/** Of a process that may dial what the deployment's own may not. */
const LOOPBACK_ALLOWED = { RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,0.0.0.0/32,::1/128,::/128' };
const RESOLVER = import.meta.resolve('./preload-resolver.ts');

let sink: Sink;
/** Also on the provider's own address, which may be dialled: only not following keeps it silent. */
let redirectSink: Sink;
let deployment: Deployment;
let forms: readonly AddressForm[] = [];
let connections = 0;

before(async () => {
  sink = await startSink(['127.0.0.1', '::1']);
  redirectSink = await startSink(['127.0.0.1', '::1', PROVIDER_HOST]);
  forms = addressForms(sink.port);
  const proxy = `http://127.0.0.1:${sink.port}`;
  deployment = await startDeployment({
    provider: { host: PROVIDER_HOST, port: sink.port },
    nodeFlags: ['--import', RESOLVER],
    env: {
      RELAY_ALLOW_PRIVATE_NETWORKS: `${PROVIDER_HOST}/32`,
      // A proxy named in the environment must not become a way around the door.
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      http_proxy: proxy,
      https_proxy: proxy,
      ALL_PROXY: proxy,
    },
  });
});
after(async () => {
  await deployment.stop();
  sink.close();
  redirectSink.close();
  reportFigures({ forms: forms.length, connections });
});

/** Runs what must not reach the sink and counts what did. */
async function unheard(what: () => Promise<void>): Promise<void> {
  const heard = () => sink.connections() + redirectSink.connections();
  const settled = () => Promise.all([sink.settled(), redirectSink.settled()]);
  await settled();
  const before = heard();
  try {
    await what();
  } finally {
    await settled();
    connections += heard() - before;
  }
  assert.equal(heard() - before, 0, 'the sink heard somebody');
}

function ask(url: string, path: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'manual',
  });
}

function chat(url: string, model: string, more: object = {}): Promise<Response> {
  return ask(url, 'chat/completions', { model, messages: [{ role: 'user', content: 'hello' }], ...more });
}

async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string } };
  return `${response.status} ${error.code}`;
}

async function untilListed(url: string, models: readonly string[]): Promise<void> {
  const deadlineMs = Date.now() + 5_000;
  for (;;) {
    const listed = await fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${deployment.apiToken}` },
    });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    const ids = new Set(data.map(({ id }) => id));
    if (models.every((model) => ids.has(model))) return;
    assert.ok(Date.now() < deadlineMs, 'a change did not become visible');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function endpointFor(admin: AdminClient, providerId: string, model: string): Promise<void> {
  await admin.create('/api/relay/endpoints', {
    provider_id: providerId,
    name: model,
    upstream_model: model,
    route_kind: 'multi',
    supports_streaming: true,
    enabled: true,
  });
}

function provider(url: string, name: string): object {
  return { name, base_url: url, auth_mode: 'none', enabled: true };
}

describe('an address that may not be reached', () => {
  /** Model name by form, for the forms that could be saved. */
  const models = new Map<AddressForm, string>();

  it('is refused when saved, on create and on change, naming the field', () =>
    unheard(async () => {
      const held = await deployment.admin.create(
        '/api/relay/providers',
        provider('https://api.example.com/v1', 'Held'),
      );
      for (const form of forms.filter(({ refusedWhen }) => refusedWhen === 'saved')) {
        const name = JSON.stringify(form.url);
        const created = await deployment.admin.call(
          'POST',
          '/api/relay/providers',
          provider(form.url, 'Bad'),
        );
        const changed = await deployment.admin.call('PUT', `/api/relay/providers/${held.id}`, {
          base_url: form.url,
        });
        for (const { status, body } of [created, changed]) {
          assert.equal(status, 400, `${name} was answered ${status}`);
          assert.equal((body as { error: { param: string } }).error.param, 'base_url', name);
        }
      }
      const { body } = await deployment.admin.call('GET', `/api/relay/providers/${held.id}`);
      assert.equal((body as { base_url: string }).base_url, 'https://api.example.com/v1');
    }));

  it('that is a name may be saved, without anybody dialling it', () =>
    unheard(async () => {
      for (const form of forms.filter(({ refusedWhen }) => refusedWhen === 'dialled')) {
        const made = await deployment.admin.create('/api/relay/providers', provider(form.url, 'Named'));
        const model = `form-${forms.indexOf(form)}`;
        await endpointFor(deployment.admin, made.id, model);
        models.set(form, model);
      }
    }));

  it('stays readable once it is in the configuration, as if loopback had been open before', async () => {
    await deployment.beside({ env: LOOPBACK_ALLOWED }, async (open) => {
      const openAdmin = adminClient(open.url, deployment.adminToken);
      for (const form of forms.filter(({ refusedWhen }) => refusedWhen === 'saved')) {
        const { status, body } = await openAdmin.call(
          'POST',
          '/api/relay/providers',
          provider(form.url, 'Old'),
        );
        if (status !== 201) {
          assert.equal(form.reachesSink, false, `${JSON.stringify(form.url)} was answered ${status}`);
          continue;
        }
        const model = `form-${forms.indexOf(form)}`;
        await endpointFor(openAdmin, (body as { id: string }).id, model);
        models.set(form, model);
      }
    });
    await untilListed(deployment.url, [...models.values()]);
  });

  it('is not dialled by any operation, however it came to be configured', () =>
    unheard(async () => {
      assert.ok(models.size > forms.filter(({ reachesSink }) => reachesSink).length);
      for (const [form, model] of models) {
        const answers = [
          await chat(deployment.url, model),
          await chat(deployment.url, model, { stream: true }),
          await ask(deployment.url, 'embeddings', { model, input: 'hello' }),
          await ask(deployment.url, 'responses', { model, input: 'hello', stream: true }),
        ];
        for (const answer of answers)
          assert.equal(await codeOf(answer), '502 upstream_not_prepared', form.url);
      }
    }));

  it('is not dialled by explaining a route', () =>
    unheard(async () => {
      for (const model of models.values()) {
        const { status } = await deployment.admin.call('POST', '/api/relay/routing/explain', {
          operation: 'chat',
          body: { model, messages: [] },
        });
        assert.ok(status < 500, `${status}`);
      }
    }));

  it('is heard by the sink, form by form, where loopback is allowed', async () => {
    await deployment.beside({ env: LOOPBACK_ALLOWED }, async (open) => {
      await untilListed(open.url, [...models.values()]);
      for (const [form, model] of models) {
        if (!form.reachesSink) continue;
        const heard = sink.connections();
        await chat(open.url, model);
        await sink.settled();
        assert.ok(sink.connections() > heard, `${form.url} reached nobody`);
      }
    });
  });
});

describe('a name that turns from an allowed address to loopback between two dials', () => {
  it('is served by the one and never dialled at the other', async () => {
    const url = `http://rebinding.test:${sink.port}/v1`;
    const made = await deployment.admin.create('/api/relay/providers', {
      ...provider(url, 'Rebinding'),
      auth_mode: 'bearer_static',
    });
    await deployment.admin.create('/api/relay/credentials', {
      provider_id: made.id,
      name: 'primary',
      secret: 'sk-rebinding',
    });
    await endpointFor(deployment.admin, made.id, 'gpt-4o');
    await untilListed(deployment.url, ['gpt-4o']);
    await unheard(async () => {
      const statuses: number[] = [];
      for (let turn = 0; turn < 6; turn += 1) {
        const response = await chat(deployment.url, 'rebinding/gpt-4o', { sim: { connectionClose: true } });
        statuses.push(response.status);
        await response.arrayBuffer();
      }
      assert.deepEqual(statuses, [200, 502, 200, 502, 200, 502]);
    });
  });
});

describe('a redirect', () => {
  before(() =>
    createLane(deployment.admin, {
      name: 'Redirecting',
      endpoints: [{ baseUrl: deployment.provider.baseUrl, upstreamModel: 'gpt-4o-mini' }],
    }),
  );
  const hosts = ['127.0.0.1', '[::1]', PROVIDER_HOST, 'loopback.test'];

  for (const status of [301, 302, 303, 307, 308]) {
    it(`with ${status} is neither followed nor passed on`, () =>
      unheard(async () => {
        for (const host of hosts) {
          const redirectTo = `http://${host}:${redirectSink.port}/v1/chat/completions`;
          for (const stream of [false, true]) {
            const response = await chat(deployment.url, 'redirecting', {
              stream,
              sim: { redirectTo, status },
            });
            assert.equal(response.status, 502);
            assert.equal(response.headers.get('location'), null);
            assert.match(await response.text(), /"upstream_redirected"/);
          }
        }
      }));
  }

  it('is heard by the sink when somebody does follow it', async () => {
    const heard = redirectSink.connections();
    await fetch(`http://${PROVIDER_HOST}:${redirectSink.port}/`);
    await redirectSink.settled();
    assert.equal(redirectSink.connections(), heard + 1);
  });
});

describe('a credential', () => {
  let other: ProviderSim;
  let providerId: string;
  let credentialId: string;
  before(async () => {
    other = await startProviderSim({ host: PROVIDER_HOST });
    const lane = await createLane(deployment.admin, {
      name: 'Bound',
      endpoints: [
        { baseUrl: deployment.provider.baseUrl, upstreamModel: 'sim-multi', secret: 'sk-of-old-origin' },
      ],
    });
    providerId = lane.providerIds[0] ?? '';
    const { body } = await deployment.admin.call('GET', '/api/relay/credentials');
    credentialId = (body as { id: string; provider_id: string }[]).find(
      ({ provider_id }) => provider_id === providerId,
    )?.id as string;
  });
  after(() => other.close());

  const change = (baseUrl: string) =>
    deployment.admin.call('PUT', `/api/relay/providers/${providerId}`, { base_url: baseUrl });

  it('keeps its provider at its origin: host, port and scheme', async () => {
    for (const url of [
      other.baseUrl,
      `https://${PROVIDER_HOST}:${deployment.provider.port}/v1`,
      `http://rebinding.test:${deployment.provider.port}/v1`,
    ]) {
      const { status, body } = await change(url);
      assert.equal(status, 409, url);
      assert.equal((body as { error: { param: string } }).error.param, 'base_url');
    }
    const response = await chat(deployment.url, 'bound');
    assert.equal(response.status, 200);
    assert.equal(deployment.provider.log.at(-1)?.key, 'sk-of-old-origin');
    assert.equal(other.log.length, 0);
  });

  it('cannot be lent to an endpoint of another provider', async () => {
    const elsewhere = await deployment.admin.create('/api/relay/providers', {
      ...provider(other.baseUrl, 'Elsewhere'),
      auth_mode: 'bearer_static',
    });
    const { status } = await deployment.admin.call('POST', '/api/relay/endpoints', {
      provider_id: elsewhere.id,
      credential_id: credentialId,
      name: 'Borrowing',
      upstream_model: 'sim-multi',
      route_kind: 'multi',
      supports_streaming: true,
      enabled: true,
    });
    assert.equal(status, 400);
  });

  it('is gone when the provider moves, and the new origin only ever sees the new one', async () => {
    const removed = await deployment.admin.call('DELETE', `/api/relay/credentials/${credentialId}`);
    assert.equal(removed.status, 204);
    assert.equal((await change(other.baseUrl)).status, 200);
    assert.equal(await codeOf(await chat(deployment.url, 'bound')), '502 upstream_not_prepared');
    await deployment.admin.create('/api/relay/credentials', {
      provider_id: providerId,
      name: 'new',
      secret: 'sk-of-new-origin',
    });
    assert.equal((await chat(deployment.url, 'bound')).status, 200);
    assert.deepEqual(
      other.log.map(({ key }) => key),
      ['sk-of-new-origin'],
    );
    const sent = JSON.stringify(other.log.map(({ rawHeaders }) => rawHeaders));
    assert.doesNotMatch(sent, /sk-of-old-origin/);
  });
});
