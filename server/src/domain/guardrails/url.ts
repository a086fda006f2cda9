import { parseTargetUrl } from '../../kit/egress/target-url.ts';

export interface GuardrailUrl {
  readonly origin: string;
  /** With the query, as it goes into the request line. */
  readonly path: string;
}

/** A query of plain names and values, such as `?api-version=2024-09-01`; nothing that a second reader could take for more. */
const QUERY = /^[A-Za-z0-9._~%=&+:,-]*$/;

/** `base_url` without the query, for a check by the egress door, which accepts none. */
export function withoutQuery(baseUrl: string): string {
  return baseUrl.split('?', 1)[0] ?? baseUrl;
}

/** A guardrail is called at the very address that was saved, and some services want a version in the query. */
export function parseGuardrailUrl(baseUrl: string): GuardrailUrl | 'invalid' {
  const bare = withoutQuery(baseUrl);
  const target = parseTargetUrl(bare);
  const query = baseUrl.slice(bare.length + 1);
  if (typeof target === 'string' || !QUERY.test(query)) return 'invalid';
  // The trailing slash of an address that is called as it stands belongs to it.
  const path = new URL(bare).pathname;
  return { origin: target.origin, path: query === '' ? path : `${path}?${query}` };
}
