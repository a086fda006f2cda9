import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile } from '@relay/contract';
import { sql } from 'kysely';
import { addOneOfEach, onPlan, refusal } from '../fixture.ts';
import { configFileRoom, smallFile, withSecret } from './config-file.fixture.ts';
import { largeFile } from './large-file.fixture.ts';

const DURATION_MS_MAX = 2_000;

async function timed<T>(work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs < DURATION_MS_MAX, `it took ${Math.round(tookMs)} ms`);
  return result;
}

describe('the configuration file', () => {
  const { room, empty, exported, plan, apply } = configFileRoom();

  for (const seed of [1, 2, 3]) {
    it(`of 530 items arrives on an empty server byte by byte, each step within 2 s (seed ${seed})`, async () => {
      const { secrets, file } = largeFile(seed);
      const [source, target] = [await empty(), await empty()];
      assert.equal((await timed(() => apply(source, file, { secrets }))).creates, 530);
      const there = await exported(source);
      const planned = await timed(() => plan(target, there));
      assert.equal(planned.creates, 530);
      await timed(() => apply(target, there, { secrets, plan_hash: planned.plan_hash }));
      assert.equal(JSON.stringify(await exported(target)), JSON.stringify(there));
      for (const config of [file, there]) {
        const again = await plan(target, config, { prune: true });
        assert.deepEqual([again.changes, again.orphaned, again.required_secrets], [[], [], []]);
      }
    });
  }

  it('has what was made by hand, slugs and references to follow included, and arrives the same elsewhere', async () => {
    const [source, target] = [await empty(), await empty()];
    for (const name of ['Ümlaut', 'Ümläut', '!!!']) await addOneOfEach(room(), source, name);
    const there = await exported(source);
    assert.deepEqual(
      there.lanes?.map(({ slug }) => slug),
      ['lane', 'umlaut', 'umlaut-2'],
    );
    const refs = there.credentials?.map(({ secret_ref }) => secret_ref) ?? [];
    assert.equal(new Set(refs).size, 3);
    await apply(target, there, { secrets: Object.fromEntries(refs.map((ref) => [ref, 'sk-some'])) });
    assert.equal(JSON.stringify(await exported(target)), JSON.stringify(there));
    const taken = await apply(source, there);
    assert.deepEqual([taken.creates, taken.updates, taken.deletes], [0, 21, 0]);
    assert.deepEqual((await plan(source, there)).changes, []);
  });

  it('leaves out ids, secrets, defaults and sections without items', async () => {
    const caller = await empty();
    assert.deepEqual(await exported(caller), { version: 1 });
    await apply(caller, smallFile(), withSecret);
    assert.deepEqual(await exported(caller), {
      ...smallFile(),
      providers: [{ slug: 'main', name: 'Main', base_url: 'https://api.example.com/v1' }],
      endpoints: [{ slug: 'model', ...smallFile().endpoints[0] }],
      lanes: [{ slug: 'fast', name: 'Fast' }],
    });
  });

  it('shows exactly the field that changed, and nothing after the apply', async () => {
    const caller = await empty();
    await apply(caller, smallFile(), withSecret);
    const file: ConfigFile = { ...smallFile(), lanes: [{ name: 'Fast', default_max_wait_ms: 5 }] };
    const { changes, updates } = await plan(caller, file);
    assert.equal(updates, 1);
    assert.deepEqual(
      changes.map(({ action, section, key, fields }) => ({ action, section, key, fields })),
      [
        {
          action: 'update',
          section: 'lanes',
          key: 'fast',
          fields: [{ field: 'default_max_wait_ms', before: 30_000, after: 5 }],
        },
      ],
    );
    assert.deepEqual((await apply(caller, file)).changes, changes);
    assert.deepEqual((await plan(caller, file)).changes, []);
    const { body: lanes } = await room().call('listLanes', caller);
    assert.equal(lanes[0]?.default_max_wait_ms, 5);
  });

  it('keeps the slug through a rename, and with it the id and what names it', async () => {
    const caller = await empty();
    await apply(caller, smallFile(), withSecret);
    const { body: before } = await room().call('listMemberships', caller);
    await apply(caller, { ...smallFile(), lanes: [{ slug: 'fast', name: 'Schnell' }] });
    const { body: lanes } = await room().call('listLanes', caller);
    assert.deepEqual(
      lanes.map(({ name, slug }) => [name, slug]),
      [['Schnell', 'fast']],
    );
    assert.deepEqual((await room().call('listMemberships', caller)).body, before);
  });

  it('changes all or nothing: a bad reference in the middle leaves no row, no version, no audit entry', async () => {
    const caller = await empty();
    const good = largeFile(4);
    const endpoints = [...(good.file.endpoints ?? [])];
    endpoints[75] = { ...endpoints[75], provider: 'nobody' } as (typeof endpoints)[0];
    const versionBefore = await room().configVersion(caller);
    await assert.rejects(
      apply(caller, { ...good.file, endpoints }, { secrets: good.secrets }),
      refusal('invalid_request', 'endpoints[75].provider', /"nobody"/),
    );
    assert.deepEqual(await exported(caller), { version: 1 });
    assert.equal(await room().configVersion(caller), versionBefore);
    assert.equal(await auditCount(caller.organizationId), 0);
  });

  it('changes all or nothing: what the database refuses at the end takes the rest along', async () => {
    const caller = await empty();
    await sql`alter table limit_policies add constraint only_in_this_test check (limit_value <> 123)`.execute(
      room().db,
    );
    const limit_policies = [{ ...smallFile().limit_policies[0], limit_value: 123 } as never];
    await assert.rejects(apply(caller, { ...smallFile(), limit_policies }, withSecret), /only_in_this_test/);
    assert.deepEqual(await exported(caller), { version: 1 });
    assert.equal(await auditCount(caller.organizationId), 0);
  });

  it('bumps one version, audits each change, and does neither when nothing changes', async () => {
    const caller = await empty();
    await room().snapshots.load(caller.organizationId);
    const versionBefore = await room().configVersion(caller);
    await apply(caller, smallFile(), withSecret);
    const version = await room().configVersion(caller);
    assert.ok(version > versionBefore);
    assert.equal(await auditCount(caller.organizationId), 7);
    await apply(caller, smallFile(), withSecret);
    assert.equal(await room().configVersion(caller), version);
    assert.equal(await auditCount(caller.organizationId), 7);
    assert.equal(room().snapshots.get(caller.organizationId)?.version, version);
  });

  it('is refused when the plan is no longer the one that was looked at', async () => {
    const caller = await empty();
    await addOneOfEach(room(), caller, 'Fast');
    const file: ConfigFile = { version: 1, lanes: [{ name: 'Fast', hidden: true }] };
    const { plan_hash } = await plan(caller, file);
    const { body: lanes } = await room().call('listLanes', caller);
    const renamed = { name: 'Quick', default_max_wait_ms: 30_000, allow_fallback: true, enabled: true };
    await room().call('updateLane', caller, { id: lanes[0]?.id ?? '', body: renamed });
    await assert.rejects(apply(caller, file, { plan_hash }), refusal('version_conflict', 'plan_hash'));
    const second = await plan(caller, file);
    assert.notEqual(second.plan_hash, plan_hash);
    await apply(caller, file, { plan_hash: second.plan_hash });
  });

  it('says where in the file a fault is', async () => {
    const caller = await empty();
    const small = smallFile();
    const provider = small.providers[0] as (typeof small.providers)[0];
    const faults: [Partial<ConfigFile>, string, RegExp][] = [
      [{ providers: [provider, { ...provider, name: 'main' }] }, 'providers[1]', /same provider "main"/],
      [{ providers: [{ ...provider, base_url: 'http://10.0.0.1/v1' }] }, 'providers[0].base_url', /private/],
      [{ providers: [{ ...provider, slug: 'No-Caps' }] }, 'providers[0].slug', /lowercase/],
      [
        { providers: [{ ...provider, auth_mode: 'header_static' }] },
        'providers[0].auth_header_name',
        /providers\[0\]: auth_mode header_static needs/,
      ],
      [
        { memberships: [{ lane: 'slow', endpoint: 'model', manual_rank: 1 }] },
        'memberships[0].lane',
        /"slow"/,
      ],
      [
        { endpoints: [{ ...small.endpoints[0], credential: 'other' } as (typeof small.endpoints)[0]] },
        'endpoints[0].credential',
        /credential "main\/other"/,
      ],
      [
        { limit_policies: [{ scope_type: 'lane', metric: 'requests', period: 'minute', limit_value: 1 }] },
        'limit_policies[0].scope',
        /must name the lane/,
      ],
      [
        { limit_policies: [{ scope_type: 'global', metric: 'requests', period: 'none', limit_value: 1 }] },
        'limit_policies[0].period',
        /period must be one of/,
      ],
    ];
    for (const [part, param, words] of faults) {
      await assert.rejects(plan(caller, { ...small, ...part }), refusal('invalid_request', param, words));
    }
  });

  it('may name what is there and not in the file', async () => {
    const caller = await empty();
    const { lane } = await addOneOfEach(room(), caller, 'Here');
    await apply(caller, { version: 1, endpoints: [{ ...endpointOf('here'), name: 'New' }] });
    await apply(caller, {
      version: 1,
      memberships: [{ lane: lane.slug, endpoint: 'new', manual_rank: 2 }],
    });
    assert.equal((await exported(caller)).memberships?.length, 2);
  });

  it('tells limit policies on the same thing apart', async () => {
    const caller = await empty();
    const policy = (limit_value: number) =>
      ({ scope_type: 'global', metric: 'requests', period: 'minute', limit_value }) as const;
    const file: ConfigFile = { version: 1, limit_policies: [policy(3), policy(1), policy(1)] };
    await apply(caller, file);
    const values = async () => (await exported(caller)).limit_policies?.map(({ limit_value }) => limit_value);
    assert.deepEqual(await values(), [1, 1, 3]);
    assert.deepEqual((await plan(caller, file)).changes, []);
    await apply(caller, { version: 1, limit_policies: [policy(3), policy(1)] }, { prune: true });
    assert.deepEqual(await values(), [1, 3]);
  });

  it('creates no more than the organization’s plan allows', async () => {
    const caller = await onPlan(room(), await empty(), 'free');
    const lanes = Array.from({ length: 6 }, (_, i) => ({ name: `Lane ${i}` }));
    await assert.rejects(
      apply(caller, { version: 1, lanes }),
      refusal('entitlement_missing', 'lanes', /allows 5 lanes/),
    );
    await apply(caller, { version: 1, lanes: lanes.slice(1) });
    await assert.rejects(plan(caller, { version: 1, lanes }), refusal('entitlement_missing'));
  });

  it('moves an endpoint to another provider without losing who names it', async () => {
    const caller = await empty();
    await apply(caller, smallFile(), withSecret);
    const { body: before } = await room().call('listEndpoints', caller);
    const small = smallFile();
    await apply(caller, {
      ...small,
      providers: [
        ...small.providers,
        { name: 'Second', base_url: 'https://b.example.com/v1', auth_mode: 'none' },
      ],
      endpoints: [{ ...endpointOf('second'), name: 'Model' }],
    });
    const { body: after } = await room().call('listEndpoints', caller);
    assert.equal(after[0]?.id, before[0]?.id);
    assert.notEqual(after[0]?.provider_id, before[0]?.provider_id);
    assert.equal(after[0]?.credential_id, null);
  });

  async function auditCount(organizationId: string): Promise<number> {
    const rows = await room()
      .db.selectFrom('audit_log')
      .select('id')
      .where('organization_id', '=', organizationId)
      .execute();
    return rows.length;
  }
});

function endpointOf(provider: string) {
  return { name: 'E', provider, upstream_model: 'gpt-5', route_kind: 'multi' as const };
}

describe('the configuration file in hosted mode', () => {
  const deployment = { mode: 'hosted', accounts: true, version: '0.0.0' } as const;
  const { empty, exported, plan, apply } = configFileRoom({ deployment });

  it('has no limit policies and refuses a file that has', async () => {
    const caller = await empty();
    const { limit_policies, ...rest } = smallFile();
    await assert.rejects(
      plan(caller, { ...rest, limit_policies }),
      refusal('mode_unsupported', 'limit_policies'),
    );
    await apply(caller, rest, withSecret);
    assert.equal((await exported(caller)).limit_policies, undefined);
  });
});
