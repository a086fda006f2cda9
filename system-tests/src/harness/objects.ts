import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Accounts, Query } from './accounts.ts';

/** One object of every kind, and a spare one of every kind that can be deleted. */
export interface Objects {
  readonly organizationId: string;
  /** The caller. */
  readonly callerId: string;
  /** Another member, and a key of theirs. */
  readonly memberId: string;
  readonly memberKeyId: string;
  readonly keyId: string;
  readonly spareKeyId: string;
  readonly invitationId: string;
  readonly providerId: string;
  readonly spareProviderId: string;
  readonly credentialId: string;
  readonly spareCredentialId: string;
  readonly endpointId: string;
  readonly secondEndpointId: string;
  /** In no lane and without a price, and the only one that speaks Anthropic's protocol. */
  readonly bareEndpointId: string;
  readonly spareEndpointId: string;
  readonly laneId: string;
  readonly laneSlug: string;
  readonly spareLaneId: string;
  readonly membershipId: string;
  readonly spareMembershipId: string;
  readonly pricingPolicyId: string;
  readonly sparePricingPolicyId: string;
  readonly guardrailId: string;
  readonly spareGuardrailId: string;
  readonly limitPolicyId: string;
  readonly spareLimitPolicyId: string;
  readonly alertDestinationId: string;
  readonly spareAlertDestinationId: string;
  readonly userPolicyId: string;
  readonly spareUserPolicyId: string;
  readonly keyPolicyId: string;
  readonly spareKeyPolicyId: string;
  readonly teamId: string;
  readonly spareTeamId: string;
  readonly spareTeamPolicyId: string;
  readonly requestId: string;
  readonly auditEntryId: string;
}

/** The model that every organization has. */
export const MODEL = 'matrix-model';

export interface Furnishing {
  readonly organizationId: string;
  readonly callerId: string;
  /** Where requests of this organization go, and of no other. */
  readonly upstreamUrl: string;
  /** For further sets in the same organization, whose names must differ. */
  readonly suffix: string;
}

export async function addObjects(accounts: Accounts, furnishing: Furnishing): Promise<Objects> {
  const { organizationId, callerId } = furnishing;
  const memberId = await accounts.addMember(organizationId, { role: 'developer', name: 'Grace' });
  const keyOf = async (userId: string, name: string) =>
    (await accounts.addKey({ organizationId, userId, name, scopes: ['relay:request'] })).id;
  const people = {
    organizationId,
    callerId,
    memberId,
    memberKeyId: await keyOf(memberId, 'Kept'),
    keyId: await keyOf(callerId, 'Kept'),
    spareKeyId: await keyOf(callerId, 'Spare'),
  };
  return accounts.atOnce(async (query) => {
    const insert = inserting(query, organizationId);
    const routing = await addRouting(insert, furnishing);
    return {
      ...people,
      ...routing,
      ...(await addPolicies(insert, { ...people, ...furnishing })),
      ...(await addTraces(insert, people)),
    };
  });
}

type Insert = (table: string, row: Record<string, unknown>) => Promise<string>;

/** Answers the id of the row, which the ledger calls differently. */
function inserting(query: Query, organizationId: string): Insert {
  return async (table, row) => {
    const id = randomUUIDv7();
    const full = {
      organization_id: organizationId,
      [table === 'requests' ? 'request_id' : 'id']: id,
      ...row,
    };
    const names = Object.keys(full);
    const places = names.map((_, index) => `$${index + 1}`);
    await query(
      `insert into ${table} (${names.join(', ')}) values (${places.join(', ')})`,
      Object.values(full),
    );
    return id;
  };
}

async function addRouting(insert: Insert, { upstreamUrl, suffix }: Furnishing) {
  const named = (name: string) => ({ name, slug: name.toLowerCase().replaceAll(' ', '-') + suffix });
  const provider = (name: string) =>
    insert('providers', { ...named(name), base_url: upstreamUrl, auth_mode: 'none' });
  const providerId = await provider('Kept');
  const sealed = { sealed_secret: Buffer.alloc(40), key_id: '0'.repeat(16) };
  const credential = (name: string) => insert('credentials', { provider_id: providerId, name, ...sealed });
  const endpoint = (name: string, protocol = 'openai') =>
    insert('endpoints', {
      protocol,
      ...named(name),
      provider_id: providerId,
      upstream_model: MODEL,
      route_kind: 'multi',
    });
  const [endpointId, secondEndpointId] = [await endpoint('Kept'), await endpoint('Second')];
  const lane = (name: string) => insert('lanes', named(name));
  const laneId = await lane('Main lane');
  const membership = (endpoint_id: string, manual_rank: number) =>
    insert('lane_memberships', { lane_id: laneId, endpoint_id, manual_rank });
  const price = (endpoint_id: string) =>
    insert('pricing_policies', {
      endpoint_id,
      input_cost_micros_per_1m_tokens: 1,
      output_cost_micros_per_1m_tokens: 1,
      source: 'manual',
    });
  const guardrail = (name: string) =>
    insert('guardrails', {
      ...named(name),
      preset_slug: 'custom-http',
      base_url: `${upstreamUrl}/guardrail`,
    });
  return {
    providerId,
    spareProviderId: await provider('Spare'),
    credentialId: await credential('Kept'),
    spareCredentialId: await credential('Spare'),
    endpointId,
    secondEndpointId,
    bareEndpointId: await endpoint('Bare', 'anthropic'),
    spareEndpointId: await endpoint('Spare'),
    laneId,
    laneSlug: named('Main lane').slug,
    spareLaneId: await lane('Spare'),
    membershipId: await membership(endpointId, 1),
    spareMembershipId: await membership(secondEndpointId, 2),
    pricingPolicyId: await price(endpointId),
    sparePricingPolicyId: await price(secondEndpointId),
    guardrailId: await guardrail('Kept'),
    spareGuardrailId: await guardrail('Spare'),
  };
}

interface Limited {
  readonly memberId: string;
  readonly keyId: string;
  readonly suffix: string;
}

async function addPolicies(insert: Insert, { memberId, keyId, suffix }: Limited) {
  const limit = (metric: string) => ({ metric, period: 'day', limit_value: 1_000_000 });
  const resource = (metric: string) => insert('limit_policies', { scope_type: 'global', ...limit(metric) });
  const ofMember = (metric: string) =>
    insert('user_limit_policies', { user_id: memberId, target_type: 'global', ...limit(metric) });
  const ofKey = (metric: string) =>
    insert('api_key_limit_policies', { api_key_id: keyId, target_type: 'global', ...limit(metric) });
  const team = (name: string) => insert('teams', { name, slug: name + suffix, kind: 'team' });
  const teamId = await team('kept');
  const destination = (name: string) =>
    insert('alert_destinations', {
      name,
      kind: 'webhook',
      url: 'https://alerts.example.com/hook',
      sealed_secret: Buffer.alloc(40),
      key_id: '0'.repeat(16),
      secret_version: 1,
    });
  return {
    alertDestinationId: await destination('Kept'),
    spareAlertDestinationId: await destination('Spare'),
    limitPolicyId: await resource('requests'),
    spareLimitPolicyId: await resource('tokens'),
    userPolicyId: await ofMember('requests'),
    spareUserPolicyId: await ofMember('tokens'),
    keyPolicyId: await ofKey('requests'),
    spareKeyPolicyId: await ofKey('tokens'),
    teamId,
    spareTeamId: await team('spare'),
    spareTeamPolicyId: await insert('team_limit_policies', {
      team_id: teamId,
      target_type: 'global',
      ...limit('requests'),
    }),
  };
}

/** What was done and asked before. */
async function addTraces(insert: Insert, { callerId, memberId }: { callerId: string; memberId: string }) {
  return {
    invitationId: await insert('invitations', {
      email: `invited-${memberId.slice(-12)}@example.com`,
      role: 'viewer',
      token_hash: createHash('sha256').update(memberId).digest(),
      expires_at: new Date(Date.now() + 3_600_000),
    }),
    auditEntryId: await insert('audit_log', {
      actor_type: 'user',
      actor_user_id: callerId,
      action: 'lane.create',
      target_type: 'lane',
    }),
    requestId: await insert('requests', {
      user_id: callerId,
      operation: 'chat',
      streaming: false,
      state: 'completed',
      status: 200,
      latency_ms: 1,
      usage_source: 'none',
    }),
  };
}

const LEDGER_MS_MAX = 10_000;

/** The server makes the partitions of the ledger once it is up; without them no request can be written down. */
export async function untilLedgerReady(accounts: Accounts): Promise<void> {
  const deadlineMs = performance.now() + LEDGER_MS_MAX;
  for (;;) {
    const found = await accounts.query(`select from pg_inherits where inhparent = 'requests'::regclass`);
    if (found.length > 0) return;
    if (performance.now() > deadlineMs) throw new Error('the ledger has no partitions');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
