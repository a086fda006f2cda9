import assert from 'node:assert/strict';
import { type AdminClient, adminClient, createLane } from '../../harness/admin-client.ts';
import type { Deployment } from '../../harness/deployment.ts';
import { sharedDeployment } from '../../harness/shared-deployment.ts';
import { until } from '../../harness/until.ts';
import type { Manner } from '../manner.ts';
import { secondGateway } from '../second-gateway.ts';

/** Gateways write uses every ten seconds. */
const WRITTEN_MS_MAX = 25_000;

interface Credential {
  readonly id: string;
  readonly provider_id: string;
  readonly last_used_at: string | null;
}

export const credentialUse: readonly Manner[] = [
  {
    name: 'the last use of a credential is written, whichever gateway used it',
    async check(site) {
      const { relay } = await secondGateway(site);
      for (const url of [site.url, relay.url]) await useAndRead(site, url);
    },
  },
  {
    name: 'embedded: the last use of a credential is written',
    async check() {
      const site = await sharedDeployment('embedded');
      await useAndRead(site, site.url);
    },
  },
];

async function credentialsOf(admin: AdminClient, providerId: string): Promise<Credential[]> {
  const { body } = await admin.call('GET', '/api/relay/credentials');
  return (body as Credential[]).filter(({ provider_id }) => provider_id === providerId);
}

async function useAndRead(site: Deployment, gateway: string): Promise<void> {
  const admin = adminClient(gateway, site.adminToken);
  const name = `Used through ${new URL(gateway).port}`;
  const made = await createLane(admin, {
    name,
    endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
  });
  const [providerId = ''] = made.providerIds;
  const unused = await admin.create('/api/relay/credentials', {
    provider_id: providerId,
    name: 'unused',
    secret: 'sk-other',
  });
  const askedMs = Date.now();
  const answer = await fetch(`${gateway}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'Hello.' }] }),
  });
  assert.equal(answer.status, 200, await answer.text());
  let last: Credential[] = [];
  const written = await until(async () => {
    last = await credentialsOf(admin, providerId);
    return last.some(({ last_used_at }) => last_used_at !== null);
  }, WRITTEN_MS_MAX);
  assert.ok(written, JSON.stringify(last));
  const used = last.find(({ id }) => id !== unused.id);
  const usedMs = Date.parse(used?.last_used_at ?? '');
  assert.ok(Math.abs(usedMs - askedMs) < 10_000, JSON.stringify(used));
  assert.equal(last.find(({ id }) => id === unused.id)?.last_used_at, null, 'the other one was not used');
}
