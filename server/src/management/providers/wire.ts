import type { Provider } from '@relay/contract';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

/** The default of the contract. */
export const MAX_LATENCY_MS_DEFAULT = 600_000;

/** JSON columns are written as text. */
export function toColumns<T extends Pick<Provider, 'extra_headers' | 'extra_query'>>({
  extra_headers,
  extra_query,
  ...others
}: T) {
  return {
    ...others,
    extra_headers: extra_headers === null ? null : JSON.stringify(extra_headers),
    extra_query: extra_query === null ? null : JSON.stringify(extra_query),
  };
}

export function toProvider(
  row: Row<'providers'>,
  seen: Pick<Provider, 'has_credential' | 'health' | 'health_detail'>,
): Provider {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    base_url: row.base_url,
    auth_mode: row.auth_mode,
    auth_header_name: row.auth_header_name,
    aws_region: row.aws_region,
    aws_service: row.aws_service,
    max_latency_ms: row.max_latency_ms ?? MAX_LATENCY_MS_DEFAULT,
    has_credential: seen.has_credential,
    health: seen.health,
    health_detail: seen.health_detail,
    preset_slug: row.preset_slug,
    extra_headers: row.extra_headers,
    extra_query: row.extra_query,
    health_probe: row.health_probe,
    enabled: row.enabled,
    ...ownerOf(row),
  };
}
