import pg from 'pg';
import { createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { histogramOf, placeOf } from './seed-history.ts';
import { seedTraffic } from './seed-traffic.ts';

/** Sent through the lane that it guards. */
export const GUARDED_REQUESTS = 6;
const VERDICTS = ['allowed', 'flagged', 'replaced', 'blocked', 'unavailable'] as const;

/**
 * One guardrail that is asked, with a month behind it, and one that is not yet. The first is bound to a lane of its own: where it is
 * bound, no stream passes. Answers its id.
 */
export async function seedGuardrails(site: Deployment, laneId: string): Promise<string> {
  const { admin, provider } = site;
  const guardrail = await admin.create('/api/relay/guardrails', {
    name: 'Prompt moderation',
    preset_slug: 'llama-guard',
    base_url: `${provider.baseUrl}/chat/completions`,
    auth_mode: 'bearer_static',
    secret: 'sk-upstream',
    timeout_ms: 2_000,
    request_template: {
      model: 'sim-chat-b',
      messages: [{ role: 'user', content: '{{text}}' }],
      max_tokens: 5,
    },
    response_rules: [
      { path: '$.choices[*].message.content', operator: 'contains', value: 'unsafe', action: 'block' },
      { path: '$.choices[*].message.content', operator: 'exists', action: 'allow' },
    ],
  });
  const own = await createLane(admin, {
    name: 'Customer replies',
    endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-chat-b' }],
  });
  await admin.call('PUT', `/api/relay/guardrails/${guardrail.id}/bindings`, {
    bindings: [{ target_type: 'lane', target_id: own.laneId }],
  });
  await admin.call('PUT', `/api/relay/guardrails/${guardrail.id}`, { enabled: true });
  const waiting = await admin.create('/api/relay/guardrails', {
    name: 'Answer review',
    preset_slug: 'azure-content-safety',
    base_url: 'https://acme.cognitiveservices.azure.com/contentsafety/text:analyze?api-version=2024-09-01',
    auth_mode: 'header_static',
    secret_header_name: 'Ocp-Apim-Subscription-Key',
    secret: 'not-a-real-key',
    pre_dispatch_enabled: false,
    post_response_enabled: true,
    failure_mode: 'fail_open',
  });
  await admin.call('PUT', `/api/relay/guardrails/${waiting.id}/bindings`, {
    bindings: [{ target_type: 'lane', target_id: laneId }],
  });
  await addVerdicts(site, guardrail.id, laneId);
  await seedTraffic(site, { requests: GUARDED_REQUESTS, models: ['customer-replies'] });
  return guardrail.id;
}

/** As if it had been bound to that lane for the last month: what it said stands in the traces, and their sums beside them. */
async function addVerdicts(site: Deployment, guardrailId: string, laneId: string): Promise<void> {
  const client = new pg.Client({ connectionString: site.postgres.url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(
      `update requests set trace = jsonb_set(trace, '{guardrails}', jsonb_build_array(jsonb_build_object(
          'guardrail_id', $1::text, 'stage', 'pre_dispatch',
          'verdict', case when dice < 4 then 'blocked' when dice < 7 then 'flagged' when dice = 99 then 'unavailable' else 'allowed' end,
          'latency_ms', case when dice = 99 then 2000 else 35 + dice * dice / 60 end)))
        from (select request_id as id, ('x' || substr(request_id::text, 25, 6))::bit(24)::int % 100 as dice from requests) as thrown
        where id = request_id and lane_id = $2 and not streaming and trace is not null`,
      [guardrailId, laneId],
    );
    for (const bucket of ['minute', 'hour', 'day'])
      await client.query(`
        insert into guardrail_rollups (organization_id, bucket, bucket_start, guardrail_id, ${VERDICTS.join(', ')}, latency_histogram)
        select organization_id, '${bucket}', date_trunc('${bucket}', settled_at - latency_ms * interval '1 ms', 'UTC'),
          (said->>'guardrail_id')::uuid,
          ${VERDICTS.map((verdict) => `count(*) filter (where said->>'verdict' = '${verdict}')`).join(', ')},
          ${histogramOf('place')}
        from requests, jsonb_array_elements(trace->'guardrails') as said,
          lateral (select ${placeOf(`(said->>'latency_ms')::int`)} as place) as placed
        ${bucket === 'minute' ? `where settled_at > now() - interval '8 days'` : ''}
        group by 1, 3, 4`);
    await client.query('commit');
  } finally {
    await client.end();
  }
}
