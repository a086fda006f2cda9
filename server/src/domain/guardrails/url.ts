import { parseTargetUrl } from '../../kit/egress/target-url.ts';

export interface GuardrailUrl {
  readonly origin: string;
  /** Including the query, as in the request line. */
  readonly path: string;
}

/** A query of plain names and values, such as `?api-version=2024-09-01`, which every parser reads the same way. */
const QUERY = /^[A-Za-z0-9._~%=&+:,-]*$/;

/** `base_url` without the query, for the check by egress, which accepts no query. */
export function withoutQuery(baseUrl: string): string {
  return baseUrl.split('?', 1)[0] ?? baseUrl;
}

/** A guardrail is called at exactly the saved URL, and some services require a version in the query. */
export function parseGuardrailUrl(baseUrl: string): GuardrailUrl | 'invalid' {
  const bare = withoutQuery(baseUrl);
  const target = parseTargetUrl(bare);
  const query = baseUrl.slice(bare.length + 1);
  if (typeof target === 'string' || !QUERY.test(query)) return 'invalid';
  // The URL is called as it is, so its trailing slash belongs to it.
  const path = new URL(bare).pathname;
  return { origin: target.origin, path: query === '' ? path : `${path}?${query}` };
}
