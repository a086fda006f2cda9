import type { AdminClient } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';

export interface LimitSeed {
  readonly laneId: string;
  readonly providerId: string;
  /** Keys that no other request uses, so that their rejections affect nothing else. */
  readonly close: SeedKey;
  readonly spent: SeedKey;
}

export interface SeedKey {
  readonly id: string;
  readonly ownerId: string;
  readonly secret: string;
}

const LIMITS = '/api/relay/limit-policies';

/** Limits of every kind, from nearly unused to spent, by what the ledger holds. Answers the one to show closely. */
export async function seedLimits(site: Deployment, seed: LimitSeed): Promise<string> {
  const { admin } = site;
  const { laneId, providerId, close, spent } = seed;
  const ofLane = await sumOf(admin, 'cost_micros', monthStart(), `lane_id=${laneId}`);
  const ofClose = await sumOf(admin, 'requests', dayStart(), `api_key_id=${close.id}`);
  const ofSpent = await sumOf(admin, 'requests', dayStart(), `api_key_id=${spent.id}&lane_id=${laneId}`);
  const ofOwner = await sumOf(admin, 'total_tokens', monthStart(), `user_uuid=${close.ownerId}`);
  const shown = await admin.create(LIMITS, {
    scope_type: 'lane',
    scope_id: laneId,
    metric: 'spend',
    period: 'month',
    limit_value: round(ofLane / 0.62, 100_000),
  });
  await admin.create(LIMITS, {
    scope_type: 'provider',
    scope_id: providerId,
    metric: 'requests',
    period: 'minute',
    limit_value: 600,
  });
  await admin.create(LIMITS, {
    scope_type: 'global',
    metric: 'concurrency',
    period: 'none',
    limit_value: 64,
  });
  await admin.create(LIMITS, {
    scope_type: 'global',
    metric: 'tokens',
    period: 'day',
    limit_value: 50_000_000,
    enabled: false,
  });
  await admin.call('POST', '/api/relay/pro/user-limit-policies', {
    user_uuid: close.ownerId,
    target_type: 'global',
    metric: 'tokens',
    period: 'month',
    limit_value: round(ofOwner / 0.4, 1_000_000),
  });
  const ofKey = { target_type: 'global', metric: 'requests', period: 'day' };
  await admin.call('POST', '/api/relay/api-key-limit-policies', {
    ...ofKey,
    api_key_uuid: close.id,
    limit_value: Math.ceil((ofClose + 1) / 0.86),
  });
  await admin.call('POST', '/api/relay/api-key-limit-policies', {
    ...ofKey,
    target_type: 'lane',
    target_id: laneId,
    api_key_uuid: spent.id,
    limit_value: Math.max(1, ofSpent),
  });
  // The first request opens a window with what the ledger holds of it.
  await ask(site, close.secret);
  await untilRefused(site, spent.secret);
  return shown.id;
}

async function ask(site: Deployment, key: string): Promise<number> {
  const response = await fetch(`${site.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'assistant',
      messages: [{ role: 'user', content: 'Are you there?' }],
      max_tokens: 20,
    }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function untilRefused(site: Deployment, key: string): Promise<void> {
  // A gateway learns of a new limit within a second.
  for (let attempt = 0; attempt < 50; attempt += 1) if ((await ask(site, key)) === 429) return;
  throw new Error('a spent budget refused nothing');
}

async function sumOf(admin: AdminClient, metric: string, fromMs: number, filter: string): Promise<number> {
  const from = new Date(fromMs).toISOString();
  const { body } = await admin.call(
    'GET',
    `/api/relay/stats/timeseries?metric=${metric}&bucket=hour&from=${from}&${filter}`,
  );
  return (body as { series: { total: number | null }[] }).series[0]?.total ?? 0;
}

function round(value: number, step: number): number {
  return Math.max(1, Math.ceil(value / step)) * step;
}

function dayStart(): number {
  return Math.floor(Date.now() / 86_400_000) * 86_400_000;
}

function monthStart(): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
}
