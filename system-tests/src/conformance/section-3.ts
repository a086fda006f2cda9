import { ask, eventually } from './asks.ts';
import { at, itemsOf } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { everywhere } from './mode.ts';
import { objects } from './objects.ts';
import { type Key, newKey } from './people.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

interface Revoked {
  readonly revoked: Key;
  readonly sibling: Key;
  readonly deleted: Awaited<ReturnType<Site['call']>>;
}

const SCOPES = ['relay:request', 'relay:providers:read'];

/** Two keys of one owner, used, of which one is revoked. */
function revocation(site: Site): Promise<Revoked> {
  return site.once('revocation', async () => {
    const [revoked, sibling] = [await newKey(site, SCOPES), await newKey(site, SCOPES)];
    for (const { secret } of [revoked, sibling]) expectStatus(await ask(site, 'plain', { key: secret }), 200);
    const deleted = await site.call('DELETE', `/api/account/api-keys/${revoked.id}`);
    return { revoked, sibling, deleted };
  });
}

async function keyListed(site: Site, id: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await site.call('GET', '/api/account/api-keys');
  const found = itemsOf(at(answer.body, 'api_keys')).find((key) => key['id'] === id);
  expect(found !== undefined, 'the key in the list', answer);
  return found;
}

const revoking: readonly Statement[] = (
  [
    [
      'revoking answers 204 with no body',
      async (site) => {
        const { deleted } = await revocation(site);
        expectStatus(deleted, 204);
        expectEqual(deleted.text, '', 'the body');
      },
    ],
    [
      'a revoked key gets 401 on inference',
      async (site) => {
        const { revoked } = await revocation(site);
        expectStatus(await ask(site, 'plain', { key: revoked.secret }), 401);
      },
    ],
    [
      'a revoked key gets 401 on management',
      async (site) => {
        const { revoked } = await revocation(site);
        expectStatus(await site.call('GET', '/api/relay/providers', { key: revoked.secret }), 401);
      },
    ],
    [
      'its siblings keep working on inference',
      async (site) => {
        const { sibling } = await revocation(site);
        expectStatus(await ask(site, 'plain', { key: sibling.secret }), 200);
      },
    ],
    [
      'its siblings keep working on management',
      async (site) => {
        const { sibling } = await revocation(site);
        expectStatus(await site.call('GET', '/api/relay/providers', { key: sibling.secret }), 200);
      },
    ],
    [
      'a revoked key is no longer active, and revoked_at is set',
      async (site) => {
        const found = await keyListed(site, (await revocation(site)).revoked.id);
        expect(
          found['status'] !== 'active' && typeof found['revoked_at'] === 'string',
          'a revoked key',
          found,
        );
      },
    ],
    [
      'its siblings stay active',
      async (site) => {
        const found = await keyListed(site, (await revocation(site)).sibling.id);
        expectEqual([found['status'], found['revoked_at']], ['active', null], 'status and revoked_at');
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => rule('3 revoke', says, check, everywhere));

/** A key before and after it was renamed. */
function renaming(site: Site) {
  return site.once('renaming', async () => {
    const key = await newKey(site, SCOPES);
    const before = await keyListed(site, key.id);
    const answer = await site.call('PATCH', `/api/account/api-keys/${key.id}`, { body: { name: 'Renamed' } });
    return { key, before, answer, after: await keyListed(site, key.id) };
  });
}

const renames: readonly Statement[] = (
  [
    [
      'renaming answers 204 with no body',
      async (site) => {
        const { answer } = await renaming(site);
        expectStatus(answer, 204);
        expectEqual(answer.text, '', 'the body');
      },
    ],
    [
      'the name is the new one',
      async (site) => expectEqual((await renaming(site)).after['name'], 'Renamed', 'the name'),
    ],
    [
      'only the name changes',
      async (site) => {
        const { before, after } = await renaming(site);
        const changed = { name: '', etag: '' };
        expectEqual({ ...after, ...changed }, { ...before, ...changed }, 'everything else');
      },
    ],
    [
      'the secret still opens',
      async (site) => {
        const { key } = await renaming(site);
        expectStatus(await site.call('GET', '/api/relay/providers', { key: key.secret }), 200);
      },
    ],
    [
      'a body with scopes does not change the scopes',
      async (site) => {
        const { key, before } = await renaming(site);
        const body = { name: 'Renamed', scopes: ['cloud:account:manage'] };
        await site.call('PATCH', `/api/account/api-keys/${key.id}`, { body });
        expectEqual((await keyListed(site, key.id))['scopes'], before['scopes'], 'the scopes');
      },
    ],
    [
      'a revoked key can be renamed, and stays revoked',
      async (site) => {
        const { id } = (await revocation(site)).revoked;
        const before = await keyListed(site, id);
        expectStatus(
          await site.call('PATCH', `/api/account/api-keys/${id}`, { body: { name: 'Gone' } }),
          204,
        );
        const after = await keyListed(site, id);
        expectEqual(after, { ...before, name: 'Gone', etag: after['etag'] }, 'the key');
      },
    ],
  ] satisfies readonly (readonly [string, Statement['check']])[]
).map(([says, check]) => rule('3 rename', says, check, everywhere));

/** Bodies that switch one of the resources; the path is its own, or that of its collection for a create. */
const switches: readonly (readonly [string, (site: Site, enabled: boolean) => Promise<unknown>])[] = [
  [
    'PUT of a routing lane',
    async (site, enabled) => {
      const { ids } = await objects(site, 'kept');
      const body = { name: 'Changed group', default_max_wait_ms: 4_321, allow_fallback: true, enabled };
      return (await site.call('PUT', `/api/relay/routing-lanes/${ids.group_id}`, { body })).body;
    },
  ],
  [
    'PUT of a membership',
    async (site, enabled) => {
      const { ids } = await objects(site, 'kept');
      const body = { manual_rank: 7, enabled };
      return (await site.call('PUT', `/api/relay/lane-memberships/${ids.membership_id}`, { body })).body;
    },
  ],
  [
    'PUT of a guardrail',
    async (site, enabled) => {
      const { ids } = await objects(site, 'kept');
      const path = `/api/relay/guardrails/${ids.guardrail_id}`;
      await site.call('PUT', path, { body: { name: 'Changed guardrail', enabled } });
      return at((await site.call('GET', path)).body, 'guardrail');
    },
  ],
  [
    'POST of a provider',
    async (site, enabled) => {
      const body = {
        name: `Provider ${enabled}`,
        base_url: 'https://upstream.example.com/v1',
        auth_mode: 'none',
        enabled,
      };
      return (await site.call('POST', '/api/relay/providers', { body })).body;
    },
  ],
  [
    'POST of a routing lane',
    async (site, enabled) => {
      const body = { name: `Lane ${enabled}`, default_max_wait_ms: 1, allow_fallback: true, enabled };
      return (await site.call('POST', '/api/relay/routing-lanes', { body })).body;
    },
  ],
];

const enabling: readonly Statement[] = [
  ...switches.flatMap(([what, write]) =>
    [true, false].map((enabled) =>
      rule('3 enabled', `${what} with enabled ${enabled} shows ${enabled}`, async (site) => {
        expectEqual(at(await write(site, enabled), 'enabled'), enabled, 'enabled');
      }),
    ),
  ),
  rule('3 enabled', 'guardrail creation yields enabled false, whatever was sent', async (site) => {
    const body = {
      name: 'Eager guardrail',
      preset_slug: 'custom-http',
      base_url: 'https://guardrail.example.com/check',
      http_method: 'POST',
      auth_mode: 'none',
      pre_dispatch_enabled: true,
      enabled: true,
    };
    const answer = await site.call('POST', '/api/relay/guardrails', { body });
    expectStatus(answer, 201);
    expectEqual(at(answer.body, 'enabled'), false, 'enabled');
  }),
];

const count = async (site: Site, state: string): Promise<number> =>
  Number(at((await site.call('GET', '/api/relay/stats/summary')).body, `request_states.${state}`));

/** One request that ends so. */
const endings: readonly (readonly [string, (site: Site) => Promise<unknown>])[] = [
  ['completed', (site) => ask(site, 'plain')],
  ['failed', (site) => ask(site, 'plain', { fault: { status: 500 } })],
  [
    'cancelled',
    async (site) => {
      const leaving = new AbortController();
      const seen = site.provider.waitFor(({ fault }) => fault?.tag === 'leaves');
      const fault = { stallBeforeHeaders: true, tag: 'leaves' };
      const asked = ask(site, 'plain', { fault, signal: leaving.signal }).catch(() => undefined);
      await seen;
      leaving.abort();
      return asked;
    },
  ],
];

const states = endings.map(([state, end]) =>
  rule('3', `a request that is ${state} is counted as ${state}`, async (site) => {
    const before = await count(site, state);
    await end(site);
    await eventually(async () => (await count(site, state)) > before, `${state} to be more than ${before}`);
  }),
);

export const section3: readonly Statement[] = [...revoking, ...renames, ...enabling, ...states];
