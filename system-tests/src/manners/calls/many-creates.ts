import assert from 'node:assert/strict';
import { type AdminClient, adminClient } from '../../harness/admin-client.ts';
import type { Deployment } from '../../harness/deployment.ts';
import type { Manner } from '../manner.ts';
import { secondGateway } from '../second-gateway.ts';

const AT_ONCE = 300;

/** Creates that are sent concurrently, to all gateways in turn. */
async function createAtOnce(
  site: Deployment,
  path: string,
  bodyOf: (index: number) => object,
): Promise<{ statuses: Record<string, number>; tookMs: number }> {
  const gateways: AdminClient[] = site.processes.map(({ url }) => adminClient(url, site.adminToken));
  const startMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      const gateway = gateways[index % gateways.length] ?? site.admin;
      const { status, body } = await gateway.call('POST', path, bodyOf(index));
      const { error } = body as { error?: { code: string } };
      return error === undefined ? String(status) : `${status} ${error.code}`;
    }),
  );
  const statuses: Record<string, number> = {};
  for (const answer of answers) statuses[answer] = (statuses[answer] ?? 0) + 1;
  return { statuses, tookMs: Math.round(performance.now() - startMs) };
}

export const manyCreates: readonly Manner[] = [
  {
    name: '300 lanes, endpoints and keys created at once over two gateways are all created',
    async check(site) {
      await secondGateway(site);
      const provider = await site.admin.create('/api/relay/providers', {
        name: 'Many',
        base_url: site.provider.baseUrl,
        auth_mode: 'none',
        enabled: true,
      });
      const kinds: readonly (readonly [path: string, bodyOf: (index: number) => object])[] = [
        [
          '/api/relay/routing-lanes',
          (index) => ({
            name: `Lane ${index}`,
            default_max_wait_ms: 1,
            allow_fallback: true,
            enabled: true,
          }),
        ],
        [
          '/api/relay/endpoints',
          (index) => ({
            provider_id: provider.id,
            name: `Endpoint ${index}`,
            upstream_model: `m-${index}`,
            route_kind: 'chat',
          }),
        ],
        ['/api/account/api-keys', (index) => ({ name: `Key ${index}`, scopes: ['relay:request'] })],
      ];
      for (const [path, bodyOf] of kinds) {
        const { statuses, tookMs } = await createAtOnce(site, path, bodyOf);
        process.stdout.write(`${AT_ONCE} × POST ${path}: ${JSON.stringify(statuses)} in ${tookMs} ms\n`);
        assert.deepEqual(statuses, { 201: AT_ONCE }, path);
      }
    },
  },
];
