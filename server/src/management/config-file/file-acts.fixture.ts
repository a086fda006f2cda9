import assert from 'node:assert/strict';
import type { ConfigFile } from '@relay/contract';
import { createRandom, type Random } from '@relay/testbed/random';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { addOrganization, type ManagementFixture } from '../fixture.ts';

export interface FileActs {
  readonly seed: number;
  readonly acts: number;
  /** Acts by hand that the server refused with `managed_by_file`. */
  readonly refused: number;
  /** How often the plan was empty, and the export equal to the file; otherwise neither was. */
  readonly equal: number;
  readonly differing: number;
  /** How often `prune` restored the file from a difference. */
  readonly restored: number;
}

const SECRET = 'sk-planted-in-a-file';
const SECRETS = { 'env:A': `${SECRET}-a`, 'env:B': `${SECRET}-b` };

const price = { input_cost_micros_per_1m_tokens: 5, output_cost_micros_per_1m_tokens: 6 };

const base = {
  version: 1,
  // Relay's price list has the models of this provider, so endpoints have default prices, which no file names.
  providers: [
    { slug: 'openai', name: 'OpenAI', base_url: 'https://api.openai.com/v1' },
    { slug: 'other', name: 'Other', base_url: 'https://other.example.com/v1' },
  ],
  credentials: [
    { provider: 'openai', name: 'a', secret_ref: 'env:A' },
    { provider: 'other', name: 'b', secret_ref: 'env:B' },
  ],
  endpoints: [
    { slug: 'mini', name: 'Mini', provider: 'openai', upstream_model: 'gpt-4o-mini', route_kind: 'chat' },
    { slug: 'own', name: 'Own', provider: 'other', upstream_model: 'own', route_kind: 'chat' },
  ],
  lanes: [
    { slug: 'fast', name: 'Fast' },
    { slug: 'slow', name: 'Slow' },
  ],
  memberships: [
    { lane: 'fast', endpoint: 'mini', manual_rank: 1 },
    { lane: 'slow', endpoint: 'own', manual_rank: 1 },
  ],
  pricing_policies: [{ endpoint: 'own', ...price }],
  guardrails: [{ slug: 'guard', name: 'Guard', base_url: 'https://guard.example.com/', auth_mode: 'none' }],
  guardrail_bindings: [{ guardrail: 'guard', target_type: 'lane', target: 'fast' }],
} satisfies ConfigFile;

/** The file as people edit it. */
const FILES: readonly ConfigFile[] = [
  base,
  { ...base, memberships: base.memberships.slice(0, 1) },
  { ...base, pricing_policies: [] },
  { ...base, pricing_policies: [...base.pricing_policies, { endpoint: 'mini', ...price }] },
  { ...base, lanes: base.lanes.map((lane) => ({ ...lane, default_max_wait_ms: 5 })) },
  { ...base, guardrail_bindings: [] },
  { ...base, credentials: base.credentials.slice(0, 1) },
  { ...base, lanes: base.lanes.slice(0, 1), memberships: base.memberships.slice(0, 1) },
];

interface Site {
  readonly room: ManagementFixture;
  readonly caller: Caller;
  readonly random: Random;
}

/**
 * Random acts around a file that manages an organization: writes by hand, edits of the file, applies, and a release with writes before the
 * file is applied again. After each, the plan must be empty exactly when the export equals the file; `prune` must make it so.
 */
export async function runFileActs(room: ManagementFixture, seed: number, acts: number): Promise<FileActs> {
  const random = createRandom(seed);
  const site = { room, random, caller: await addOrganization(room.db, `file-${seed}-${acts}`) };
  const references = await Promise.all(
    FILES.map((file, index) => exportedAlone(room, file, `${seed}-${acts}-${index}`)),
  );
  const counts = { refused: 0, equal: 0, differing: 0, restored: 0 };
  let current = 0;
  await apply(site, base, {});
  for (let index = 0; index < acts; index += 1) {
    const kind = random.integer(0, 9);
    if (kind < 6) counts.refused += Number(await byHand(site));
    else if (kind === 6) current = random.integer(0, FILES.length - 1);
    else if (kind === 7) await applyOver(site, FILES[current] ?? base);
    else if (kind === 8) await apply(site, FILES[current] ?? base, {});
    else counts.restored += Number(await prune(site, FILES[current] ?? base));
    if (kind === 6) await apply(site, FILES[current] ?? base, {});
    const isEmpty = await planIsEmpty(site, FILES[current] ?? base);
    const own = await managedExport(site);
    const where = `seed ${seed}, act ${index}`;
    if (isEmpty)
      assert.deepEqual(own, references[current], `${where}: the plan is empty, and the export differs`);
    else assert.notDeepEqual(own, references[current], `${where}: the plan differs, and the export does not`);
    counts[isEmpty ? 'equal' : 'differing'] += 1;
  }
  await prune(site, FILES[current] ?? base);
  assert.deepEqual(await managedExport(site), references[current], 'prune restores the file');
  return { seed, acts, ...counts };
}

/** What an organization exports that has nothing but the file. */
async function exportedAlone(room: ManagementFixture, file: ConfigFile, name: string): Promise<ConfigFile> {
  const site = { room, random: createRandom(0), caller: await addOrganization(room.db, `alone-${name}`) };
  await apply(site, file, {});
  return await managedExport(site);
}

async function apply({ room, caller }: Site, config: ConfigFile, orphans: { prune?: true; release?: true }) {
  const refs = new Set(config.credentials?.map(({ secret_ref }) => secret_ref));
  const secrets = Object.fromEntries(Object.entries(SECRETS).filter(([ref]) => refs.has(ref)));
  return (await room.call('applyConfig', caller, { body: { config, secrets, ...orphans } })).body;
}

/** The file lets go of everything, people change it, and the file takes it back without pruning. */
async function applyOver(site: Site, file: ConfigFile): Promise<void> {
  await apply(site, { version: 1 }, { release: true });
  for (let acts = site.random.integer(1, 3); acts > 0; acts -= 1) await byHand(site);
  await apply(site, file, {});
}

async function prune(site: Site, file: ConfigFile): Promise<boolean> {
  const wasEmpty = await planIsEmpty(site, file);
  await apply(site, file, { prune: true });
  assert.equal(await planIsEmpty(site, file), true, 'a pruned file has nothing left to change');
  return !wasEmpty;
}

async function planIsEmpty({ room, caller }: Site, config: ConfigFile): Promise<boolean> {
  const { body } = await room.call('planConfig', caller, { body: { config } });
  assert.ok(!JSON.stringify(body).includes(SECRET), 'a plan has no secret');
  return body.changes.length === 0 && body.orphaned.length === 0;
}

async function exported({ room, caller }: Site): Promise<ConfigFile> {
  const { body } = await room.call('exportConfig', caller);
  assert.ok(!JSON.stringify(body).includes(SECRET), 'an export has no secret');
  return body;
}

/**
 * The export without what the file does not manage, and what belongs to that alone: what people made beside the file, and what
 * it released and names no more.
 */
async function managedExport(site: Site): Promise<ConfigFile> {
  const { room, caller } = site;
  const free = new Set<unknown>();
  for (const list of ['listProviders', 'listEndpoints', 'listLanes', 'listGuardrails'] as const) {
    const { body } = await room.call(list, caller);
    for (const { slug, managed_by } of body) if (managed_by === undefined) free.add(slug);
  }
  const file = await exported(site);
  const named = <T extends { readonly slug?: string }>(items: readonly T[] = []) =>
    items.filter(({ slug }) => !free.has(slug));
  return {
    version: 1,
    providers: named(file.providers),
    credentials: (file.credentials ?? []).filter(({ provider }) => !free.has(provider)),
    endpoints: named(file.endpoints),
    lanes: named(file.lanes),
    memberships: (file.memberships ?? []).filter(({ lane }) => !free.has(lane)),
    pricing_policies: (file.pricing_policies ?? []).filter(({ endpoint }) => !free.has(endpoint)),
    guardrails: named(file.guardrails),
    guardrail_bindings: (file.guardrail_bindings ?? []).filter(
      ({ guardrail, target = null }) => !free.has(guardrail) || (target !== null && !free.has(target)),
    ),
  };
}

/** True when the server refuses it because of the file. */
async function byHand(site: Site): Promise<boolean> {
  try {
    await handAct(site);
    return false;
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    assert.ok(!error.message.includes(SECRET));
    if (error.code === 'managed_by_file') return true;
    assert.ok(['conflict', 'not_found', 'name_taken', 'invalid_request'].includes(error.code), error.message);
    return false;
  }
}

let made = 0;

async function handAct({ room: { call }, caller, random }: Site): Promise<unknown> {
  const some = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new RelayError('not_found');
    return random.pick(items);
  };
  const anyOf = async <L extends 'listLanes' | 'listEndpoints' | 'listProviders' | 'listGuardrails'>(
    list: L,
  ) => {
    const { body } = await call(list, caller);
    return some(body as readonly { id: string; slug: string; name: string }[]);
  };
  made += 1;
  const name = `Hand ${made}`;
  const enabled = random.integer(0, 1) === 0;
  switch (random.integer(0, 15)) {
    case 0:
      return call('createLane', caller, { body: { name } });
    case 1: {
      const body = { provider_id: (await anyOf('listProviders')).id, name, upstream_model: name };
      return call('createEndpoint', caller, { body: { ...body, route_kind: 'chat' } });
    }
    case 2:
      return call('createProvider', caller, { body: { name, base_url: 'https://hand.example.com/v1' } });
    case 3: {
      const body = {
        name,
        preset_slug: 'custom-http',
        base_url: 'https://hand.example.com/',
        auth_mode: 'none' as const,
      };
      return call('createGuardrail', caller, { body });
    }
    case 4:
    case 5: {
      const [lane, endpoint] = [await anyOf('listLanes'), await anyOf('listEndpoints')];
      const body = { lane_id: lane.id, endpoint_id: endpoint.id, manual_rank: random.integer(1, 9) };
      return call('createMembership', caller, { body });
    }
    case 6: {
      const { id } = some((await call('listMemberships', caller)).body);
      return call('updateMembership', caller, { id, body: { manual_rank: random.integer(1, 9), enabled } });
    }
    case 7:
      return call('deleteMembership', caller, { id: some((await call('listMemberships', caller)).body).id });
    case 8: {
      const body = { provider_id: (await anyOf('listProviders')).id, name, secret: `${SECRET}-by-hand` };
      return call('createCredential', caller, { body });
    }
    case 9: {
      const { id } = some((await call('listCredentials', caller)).body);
      return enabled
        ? call('deleteCredential', caller, { id })
        : call('updateCredential', caller, { id, body: { enabled: false } });
    }
    case 10: {
      const body = {
        endpoint_id: (await anyOf('listEndpoints')).id,
        ...price,
        flat_request_cost_micros: random.integer(1, 9),
      };
      return call('createPricingPolicy', caller, { body });
    }
    case 11: {
      const { id } = some((await call('listPricingPolicies', caller)).body);
      return enabled
        ? call('deletePricingPolicy', caller, { id })
        : call('updatePricingPolicy', caller, {
            id,
            body: { flat_request_cost_micros: random.integer(1, 9) },
          });
    }
    case 12: {
      const { id } = await anyOf('listGuardrails');
      const target = await anyOf('listLanes');
      const bindings = enabled ? [{ target_type: 'lane' as const, target_id: target.id }] : [];
      return call('replaceGuardrailBindings', caller, { id, body: { bindings } });
    }
    case 13: {
      const lane = some((await call('listLanes', caller)).body);
      const { default_max_wait_ms, allow_fallback } = lane;
      const endpoint = await anyOf('listEndpoints');
      const body = { name: lane.name, default_max_wait_ms, allow_fallback, enabled: true };
      return call('updateLane', caller, {
        id: lane.id,
        body: { ...body, members: [{ endpoint_id: endpoint.id }] },
      });
    }
    case 14:
      return call('deleteLane', caller, { id: (await anyOf('listLanes')).id });
    default:
      return call('deleteEndpoint', caller, { id: (await anyOf('listEndpoints')).id });
  }
}
