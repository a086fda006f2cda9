import type { Endpoint } from '@relay/contract';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

const INT4_MAX = 2_147_483_647;
export const INTEGER_MAX = { max_concurrency: INT4_MAX, context_window: INT4_MAX };

export function toEndpoint(
  row: Row<'endpoints'>,
  seen: Pick<Endpoint, 'health' | 'health_detail' | 'cooldown_until'>,
): Endpoint {
  return {
    id: row.id,
    provider_id: row.provider_id,
    credential_id: row.credential_id,
    name: row.name,
    slug: row.slug,
    upstream_model: row.upstream_model,
    route_kind: row.route_kind,
    protocol: row.protocol,
    supports_streaming: row.supports_streaming,
    pacing: row.pacing,
    max_concurrency: row.max_concurrency,
    context_window: row.context_window,
    max_latency_ms: row.max_latency_ms,
    enabled: row.enabled,
    health: seen.health,
    health_detail: seen.health_detail,
    cooldown_until: seen.cooldown_until,
    ...ownerOf(row),
  };
}
