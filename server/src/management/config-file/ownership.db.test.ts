import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile, RouteBody, RouteId } from '@relay/contract';
import { sql } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { addOneOfEach, refusal } from '../fixture.ts';
import { configFileRoom, smallFile, withSecret } from './config-file.fixture.ts';

/**
 * Every resource of the file with the routes that change it, and a change that is allowed when the file does
 * not own it.
 */
const resources = [
  ['listProviders', 'updateProvider', { enabled: false }, 'deleteProvider', /provider "Main"/],
  ['listCredentials', 'updateCredential', { enabled: false }, 'deleteCredential', /credential "key"/],
  ['listEndpoints', 'updateEndpoint', { enabled: false }, 'deleteEndpoint', /endpoint "Model"/],
  [
    'listLanes',
    'updateLane',
    { name: 'X', default_max_wait_ms: 1, allow_fallback: false, enabled: false },
    'deleteLane',
    /lane "Fast"/,
  ],
  [
    'listMemberships',
    'updateMembership',
    { manual_rank: 9, enabled: false },
    'deleteMembership',
    /lane membership [0-9a-f-]{36}/,
  ],
  [
    'listPricingPolicies',
    'updatePricingPolicy',
    { flat_request_cost_micros: 9 },
    'deletePricingPolicy',
    /pricing policy [0-9a-f-]{36}/,
  ],
  [
    'listLimitPolicies',
    'updateLimitPolicy',
    { scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 0, enabled: false },
    'deleteLimitPolicy',
    /limit [0-9a-f-]{36}/,
  ],
] as const satisfies readonly (readonly [RouteId, RouteId, object, RouteId, RegExp])[];

describe('what the configuration file owns', () => {
  const { room, empty, exported, plan, apply } = configFileRoom();

  for (const [list, update, change, remove, named] of resources) {
    const idOfOnly = async (caller: Caller) => {
      const { body } = await room().call(list, caller);
      assert.equal(body.length, 1);
      return body[0] as { readonly id: string; readonly managed_by?: string };
    };

    it(`is marked by ${list}, and refused to ${update} and ${remove} by name`, async () => {
      const caller = await empty();
      await apply(caller, smallFile(), withSecret);
      const before = await exported(caller);
      const version = await room().configVersion(caller);
      const { id, managed_by } = await idOfOnly(caller);
      assert.equal(managed_by, 'file');
      const body = change as RouteBody<typeof update>;
      const refused = refusal('managed_by_file', undefined, named);
      await assert.rejects(room().call(update, caller, { id, body }), refused);
      await assert.rejects(room().call(remove, caller, { id }), refused);
      assert.deepEqual(await exported(caller), before);
      assert.equal(await room().configVersion(caller), version);
    });

    it(`is free to ${update} once the file has released it`, async () => {
      const caller = await empty();
      await apply(caller, smallFile(), withSecret);
      const released = await apply(caller, { version: 1 }, { release: true });
      assert.deepEqual([released.releases, released.deletes], [7, 0]);
      const { id, managed_by } = await idOfOnly(caller);
      assert.equal(managed_by, undefined);
      await room().call(update, caller, { id, body: change as RouteBody<typeof update> });
    });
  }

  it('stays owned and shows as orphaned when the file no longer names it', async () => {
    const caller = await empty();
    await apply(caller, smallFile(), withSecret);
    const { limit_policies: _, ...rest } = smallFile();
    const { changes, orphaned } = await apply(caller, rest);
    assert.deepEqual(changes, []);
    assert.deepEqual(
      orphaned.map(({ section, key }) => [section, key]),
      [['limit_policies', 'endpoint model: requests/minute']],
    );
    assert.equal((await exported(caller)).limit_policies?.length, 1);
    assert.deepEqual((await apply(caller, smallFile())).orphaned, []);
  });

  it('is all that prune deletes, children before what they hang on', async () => {
    const caller = await empty();
    await addOneOfEach(room(), caller, 'By hand');
    const byHand = await exported(caller);
    await apply(caller, smallFile(), withSecret);
    const planned = await plan(caller, { version: 1 }, { prune: true });
    assert.equal(planned.deletes, 7);
    const { deletes } = await apply(caller, { version: 1 }, { prune: true, plan_hash: planned.plan_hash });
    assert.equal(deletes, 7);
    assert.deepEqual(await exported(caller), byHand);
  });

  it('is not pruned while something that is not the file’s uses it', async () => {
    const caller = await empty();
    await apply(caller, smallFile(), withSecret);
    const { body: endpoints } = await room().call('listEndpoints', caller);
    const { lane } = await addOneOfEach(room(), caller, 'By hand');
    await room().call('createMembership', caller, {
      body: { lane_id: lane.id, endpoint_id: endpoints[0]?.id ?? '', manual_rank: 5, enabled: true },
    });
    const before = await exported(caller);
    await assert.rejects(
      apply(caller, { version: 1 }, { prune: true }),
      refusal('conflict', 'endpoints', /endpoint "model" .* lane membership "by-hand\/model"/),
    );
    assert.deepEqual(await exported(caller), before);
  });

  /** What defines the behavior of a resource in the file, with the routes that write it. */
  const children = [
    ['lane_memberships', 'createMembership', 'updateMembership', 'deleteMembership', /lane "Fast"/],
    ['credentials', 'createCredential', 'updateCredential', 'deleteCredential', /provider "Main"/],
    [
      'pricing_policies',
      'createPricingPolicy',
      'updatePricingPolicy',
      'deletePricingPolicy',
      /endpoint "Model"/,
    ],
  ] as const;

  for (const [table, create, update, remove, named] of children)
    it(`includes ${table} that the file does not name: no other writer, a line in the plan, gone with prune`, async () => {
      const caller = await empty();
      const own = smallFile();
      await apply(caller, own, withSecret);
      const { endpoint } = await addOneOfEach(room(), caller, 'By hand');
      const idOf = async (list: 'listLanes' | 'listProviders' | 'listEndpoints', slug: string) =>
        (await room().call(list, caller)).body.find((each) => each.slug === slug)?.id ?? '';
      const bodies = {
        createMembership: {
          lane_id: await idOf('listLanes', 'fast'),
          endpoint_id: endpoint.id,
          manual_rank: 2,
        },
        createCredential: {
          provider_id: await idOf('listProviders', 'main'),
          name: 'second',
          secret: 'sk-second',
        },
        createPricingPolicy: {
          endpoint_id: await idOf('listEndpoints', 'model'),
          input_cost_micros_per_1m_tokens: 1,
          output_cost_micros_per_1m_tokens: 1,
        },
      };
      const creating = () =>
        room().call(create, caller, { body: bodies[create] as RouteBody<typeof create> });
      const refused = refusal('managed_by_file', undefined, named);
      if (create !== 'createPricingPolicy') await assert.rejects(creating(), refused);
      // It was there before the file was: the file takes its parent, and covers it.
      await apply(caller, { version: 1 }, { release: true });
      if (create === 'createPricingPolicy') {
        const [price] = (await room().call('listPricingPolicies', caller)).body;
        await room().call('deletePricingPolicy', caller, { id: price?.id ?? '' });
      }
      const made = await creating();
      const { pricing_policies: _, ...unpriced } = own;
      const file: ConfigFile = create === 'createPricingPolicy' ? unpriced : own;
      const { changes, orphaned } = await apply(caller, file, withSecret);
      assert.ok(changes.every(({ fields }) => fields.every(({ field }) => field === 'managed_by')));
      const { id } = made.body as { id: string };
      assert.deepEqual(orphaned.filter((each) => each.id === id).length, 1);
      const body = { enabled: false, manual_rank: 3, flat_request_cost_micros: 7 };
      const fields = {
        updateMembership: ['manual_rank', 'enabled'],
        updateCredential: ['enabled'],
        updatePricingPolicy: ['flat_request_cost_micros'],
      }[update];
      const change = Object.fromEntries(Object.entries(body).filter(([field]) => fields.includes(field)));
      await assert.rejects(
        room().call(update, caller, { id, body: change as RouteBody<typeof update> }),
        refused,
      );
      await assert.rejects(room().call(remove, caller, { id }), refused);
      await apply(caller, file, { prune: true });
      const left = await sql`select 1 from ${sql.table(table)} where id = ${id}`.execute(room().db);
      assert.equal(left.rows.length, 0);
      assert.deepEqual((await plan(caller, file)).orphaned, []);
    });

  it('is taken over from who made it by hand, and said so', async () => {
    const caller = await empty();
    const { lane } = await addOneOfEach(room(), caller, 'Fast');
    const file: ConfigFile = { version: 1, lanes: [{ name: 'Fast' }] };
    const { changes } = await apply(caller, file);
    assert.deepEqual(
      changes.map(({ id, fields }) => ({ id, fields })),
      [{ id: lane.id, fields: [{ field: 'managed_by', before: null, after: 'file' }] }],
    );
    assert.deepEqual((await plan(caller, file)).changes, []);
  });

  it('does not go along with something else that is deleted by hand', async () => {
    const caller = await empty();
    const { lane, endpoint, provider } = await addOneOfEach(room(), caller, 'By hand');
    const { membership, pricing, limitPolicy } = await addOneOfEach(room(), caller, 'Other');
    assert.ok(membership.id && pricing.id && limitPolicy.id);
    await apply(
      caller,
      {
        version: 1,
        credentials: [{ provider: provider.slug, name: 'of the file', secret_ref: 'env:A' }],
        memberships: [{ lane: lane.slug, endpoint: endpoint.slug, manual_rank: 3 }],
      },
      { secrets: { 'env:A': 'sk-a' } },
    );
    for (const [route, id] of [
      ['deleteLane', lane.id],
      ['deleteEndpoint', endpoint.id],
    ] as const) {
      await assert.rejects(
        room().call(route, caller, { id }),
        refusal('managed_by_file', undefined, /would delete its lane membership/),
      );
    }
    await apply(caller, { version: 1, credentials: [] }, { prune: true });
    await room().call('deleteLane', caller, { id: lane.id });
  });

  /** What the file may own below an object that was made by hand, for each route that would delete it along. */
  const limit = { metric: 'tokens', period: 'day', limit_value: 9 } as const;
  const below = [
    [
      'deleteProvider',
      'credential',
      ({ provider }) => ({
        credentials: [{ provider, name: 'of the file', secret_ref: 'env:A' }],
      }),
    ],
    [
      'deleteProvider',
      'limit',
      ({ provider }) => ({
        limit_policies: [{ scope_type: 'provider', scope: provider, ...limit }],
      }),
    ],
    [
      'deleteCredential',
      'limit',
      ({ provider }) => ({
        limit_policies: [{ scope_type: 'credential', scope: `${provider}/By hand`, ...limit }],
      }),
    ],
    [
      'deleteEndpoint',
      'lane membership',
      ({ lane, endpoint }) => ({
        memberships: [{ lane, endpoint, manual_rank: 3 }],
      }),
    ],
    [
      'deleteEndpoint',
      'pricing policy',
      ({ endpoint }) => ({
        pricing_policies: [
          { endpoint, input_cost_micros_per_1m_tokens: 1, output_cost_micros_per_1m_tokens: 2 },
        ],
      }),
    ],
    [
      'deleteEndpoint',
      'limit',
      ({ endpoint }) => ({
        limit_policies: [{ scope_type: 'endpoint', scope: endpoint, ...limit }],
      }),
    ],
    [
      'deleteLane',
      'lane membership',
      ({ lane, endpoint }) => ({
        memberships: [{ lane, endpoint, manual_rank: 3 }],
      }),
    ],
    [
      'deleteLane',
      'limit',
      ({ lane }) => ({
        limit_policies: [{ scope_type: 'lane', scope: lane, ...limit }],
      }),
    ],
  ] as const satisfies readonly (readonly [
    RouteId,
    string,
    (slugs: { provider: string; endpoint: string; lane: string }) => Omit<ConfigFile, 'version'>,
  ])[];

  for (const [route, noun, sections] of below)
    it(`does not go along with ${route}: a ${noun}`, async () => {
      const caller = await empty();
      const made = await addOneOfEach(room(), caller, 'By hand');
      const { provider, credential, endpoint, lane } = made;
      const slugs = { provider: provider.slug, endpoint: endpoint.slug, lane: lane.slug };
      if (route === 'deleteProvider') {
        await room().call('deleteLane', caller, { id: lane.id });
        await room().call('deleteEndpoint', caller, { id: endpoint.id });
      }
      const file: ConfigFile = { version: 1, ...sections(slugs) };
      await apply(caller, file, file.credentials === undefined ? {} : { secrets: { 'env:A': 'sk-a' } });
      const before = await exported(caller);
      const id = {
        deleteProvider: provider.id,
        deleteCredential: credential.id,
        deleteEndpoint: endpoint.id,
        deleteLane: lane.id,
      }[route];
      await assert.rejects(
        room().call(route, caller, { id }),
        refusal('managed_by_file', undefined, new RegExp(`would delete its ${noun}`)),
      );
      assert.deepEqual(await exported(caller), before);
    });

  it('is written by one apply at a time, and by nobody else meanwhile', async () => {
    const caller = await empty();
    const files = Array.from({ length: 6 }, (_, i): ConfigFile => {
      return { version: 1, lanes: [{ name: 'Fast', default_max_wait_ms: i }, { name: `Lane ${i}` }] };
    });
    const made = files.map((_, i) => room().call('createLane', caller, { body: { name: `Lane ${i}` } }));
    const outcomes = await Promise.allSettled([...files.map((file) => apply(caller, file)), ...made]);
    assert.deepEqual(
      outcomes.filter(({ status }) => status === 'rejected'),
      [],
    );
    const { rows } = await sql<{ slugs: number; lanes: number }>`
      select count(distinct slug)::int as slugs, count(*)::int as lanes from lanes
      where organization_id = ${caller.organizationId}`.execute(room().db);
    assert.equal(rows[0]?.slugs, rows[0]?.lanes);
    assert.equal((await plan(caller, files[0] as ConfigFile)).creates, 0);
  });

  it('is refused a file that would both prune and release', async () => {
    const caller = await empty();
    await assert.rejects(
      apply(caller, { version: 1 }, { prune: true, release: true }),
      refusal('invalid_request', 'release'),
    );
  });
});
