import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { awsAccess, type ProviderSim, serviceAccounts, startProviderSim } from '@relay/provider-sim';
import {
  awsVectors,
  makeServiceAccount,
  selfSigned,
  VECTOR_HOST,
  VECTOR_KEYS,
  VECTOR_MS,
  VECTOR_SCOPE,
} from '@relay/testbed';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { afterMs } from '../harness/until.ts';
import { startLoad } from '../rolling/load.ts';

// Requests under load while tokens end and credentials are replaced, judged by a provider that checks every one of them.

const PER_SECOND = 200;
const ROTATION_MS = 3_000;
const ROTATIONS = 4;
const TOKEN_LIFE_MS = 3_000;
/** Signed requests are at the provider by then. */
const GRACE_MS = 1_000;
const MODEL = 'sim-chat';

const figures = { vectors: 0, requests: 0, failures: 0, refreshes: 0, rotations: 0 };
const folder = mkdtempSync(join(tmpdir(), 'relay-ways-in-'));
const server = selfSigned();
const client = selfSigned();
const authority = join(folder, 'authority.pem');

let deployment: Deployment;

before(async () => {
  writeFileSync(authority, server.cert);
  deployment = await startDeployment({ env: { NODE_EXTRA_CA_CERTS: authority } });
});
after(async () => {
  await deployment.stop();
  rmSync(folder, { recursive: true });
  reportFigures(figures);
});

interface Made {
  readonly called: string;
  replaceSecret(secret: string): Promise<void>;
}

async function make(sim: ProviderSim, name: string, provider: object, secret: string): Promise<Made> {
  const { admin } = deployment;
  const made = await admin.create('/api/relay/providers', { name, base_url: sim.baseUrl, ...provider });
  const credential = await admin.create('/api/relay/credentials', {
    provider_id: made.id,
    name: 'primary',
    secret,
  });
  await admin.create('/api/relay/endpoints', {
    provider_id: made.id,
    name,
    upstream_model: MODEL,
    route_kind: 'chat',
  });
  return {
    called: `${String(made['slug'])}/${MODEL}`,
    async replaceSecret(next) {
      const { status } = await admin.call('PUT', `/api/relay/credentials/${credential.id}`, { secret: next });
      assert.equal(status, 200);
      figures.rotations += 1;
    },
  };
}

/** Load during which the secret is replaced several times; `retire` ends what the one before was good for. */
async function rotatedUnderLoad(
  { called, replaceSecret }: Made,
  secrets: readonly string[],
  retire: (index: number) => void,
): Promise<void> {
  const { url, apiToken } = deployment;
  const lanes = { open: called, limited: called };
  const load = startLoad({ url, token: apiToken, perSecond: PER_SECOND, crowd: 0, lanes });
  for (const [index, secret] of secrets.entries()) {
    await afterMs(ROTATION_MS - GRACE_MS);
    await replaceSecret(secret);
    await afterMs(GRACE_MS);
    retire(index);
  }
  await afterMs(ROTATION_MS);
  const { requests, failures } = await load.stop();
  figures.requests += requests;
  figures.failures += failures.length;
  assert.deepEqual([...new Set(failures)], []);
  assert.ok(requests >= (PER_SECOND * ROTATION_MS * ROTATIONS) / 1_000);
}

async function ask(called: string): Promise<number> {
  const response = await fetch(`${deployment.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: called, messages: [{ role: 'user', content: 'Count.' }] }),
  });
  await response.text();
  return response.status;
}

describe('ways in to providers', () => {
  it('the simulated provider checks signatures as AWS’s published test suite does', () => {
    for (const vector of awsVectors) {
      const { accessKeyId, secretAccessKey } = VECTOR_KEYS;
      const { sessionToken, signedHeaders, signature, headers = {}, body = '' } = vector;
      const key = { secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
      const access = awsAccess({
        keys: new Map([[accessKeyId, key]]),
        ...VECTOR_SCOPE,
        nowMs: () => VECTOR_MS,
      });
      const scope = `20150830/${VECTOR_SCOPE.region}/${VECTOR_SCOPE.service}/aws4_request`;
      const all = {
        host: VECTOR_HOST,
        'x-amz-date': '20150830T123600Z',
        ...headers,
        ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
        authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
      };
      const request = { method: vector.method, url: vector.path, rawHeaders: Object.entries(all).flat() };
      assert.equal(access({ ...request, body: Buffer.from(body) }), null, vector.name);
      assert.notEqual(access({ ...request, body: Buffer.from('another body') }), null, vector.name);
      figures.vectors += 1;
    }
  });

  it('tokens of a service account end and its key is replaced, and no request fails', async () => {
    const made = Array.from({ length: ROTATIONS + 1 }, (_, index) => makeServiceAccount(`key-${index}`));
    const keys = new Map(made.map((each) => [each.keyId, each]));
    const accounts = serviceAccounts({ keys, lifeMs: TOKEN_LIFE_MS });
    const sim = await startProviderSim({ serviceAccounts: accounts, bodies: 'none' });
    try {
      const [first = '', ...others] = made.map((each) => each.secret(`${sim.url}/token`));
      const provider = await make(sim, 'Service account', { auth_mode: 'google_service_account' }, first);
      await rotatedUnderLoad(provider, others, (index) => keys.delete(`key-${index}`));
      const refreshes = accounts.issued();
      // Nearly all of a token's life is used, and each is asked for once.
      assert.ok(refreshes >= ROTATIONS + 2 && refreshes <= 4 * (ROTATIONS + 2), `${refreshes} tokens`);
      figures.refreshes += refreshes;
      assert.equal(await ask(provider.called), 200);
      accounts.failWith(500);
      assert.equal(await ask(provider.called), 200, 'a token is valid while the endpoint fails');
    } finally {
      await sim.close();
    }
  });

  it('requests are signed for AWS while the access key is replaced, and no request fails', async () => {
    const all = Array.from({ length: ROTATIONS + 1 }, (_, index) => ({
      access_key_id: `AKID${index}`,
      secret_access_key: `secret-${index}/${'x'.repeat(30)}`,
      ...(index % 2 === 0 ? {} : { session_token: `session+${index}/token==` }),
    }));
    const keys = new Map(
      all.map(({ access_key_id, secret_access_key: secretAccessKey, session_token: sessionToken }) => [
        access_key_id,
        { secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
      ]),
    );
    const access = awsAccess({ keys, region: 'eu-central-1', service: 'bedrock' });
    const sim = await startProviderSim({ access, bodies: 'none', logEntriesMax: 100_000 });
    try {
      const [first = '', ...others] = all.map((each) => JSON.stringify(each));
      const query = { 'api version': '1 + 1 = 2', z: 'é', a: '' };
      const settings = { auth_mode: 'aws_sigv4', aws_region: 'eu-central-1', extra_query: query };
      const provider = await make(sim, 'Signed', settings, first);
      await rotatedUnderLoad(provider, others, (index) => keys.delete(`AKID${index}`));
      const used = new Set(sim.log.map(({ rawHeaders }) => /AKID\d/.exec(rawHeaders.join(' '))?.[0]));
      assert.deepEqual(used, new Set(all.map(({ access_key_id }) => access_key_id)));
      await provider.replaceSecret(JSON.stringify({ access_key_id: 'AKID4', secret_access_key: 'wrong' }));
      assert.equal(await ask(provider.called), 502, 'a wrong secret is rejected');
    } finally {
      await sim.close();
    }
  });

  it('a client certificate opens a provider that asks for one', async () => {
    const sim = await startProviderSim({ tls: { ...server, clientAuthority: client.cert } });
    try {
      const stranger = selfSigned();
      const settings = { auth_mode: 'client_certificate' };
      const { called, replaceSecret } = await make(sim, 'Certified', settings, stranger.cert + stranger.key);
      assert.equal(await ask(called), 502, 'the certificate of a stranger is rejected');
      await replaceSecret(client.cert + client.key);
      assert.equal(await ask(called), 200);
      figures.requests += 1;
    } finally {
      await sim.close();
    }
  });

  it('no secret is in any answer, audit entry or log', async () => {
    const { admin, processes } = deployment;
    const paths = ['providers', 'credentials', 'audit-log', 'config/export'];
    const answers = await Promise.all(paths.map((path) => admin.call('GET', `/api/relay/${path}`)));
    const said = JSON.stringify([answers.map(({ body }) => body), processes.map(({ logs }) => logs)]);
    for (const secret of ['PRIVATE KEY', 'ya29.', 'secret-0/', 'session+1/'])
      assert.ok(!said.includes(secret), `"${secret}" is shown`);
  });
});
