import assert from 'node:assert/strict';
import type { Deployment } from '../harness/deployment.ts';
import { bearer, relayFetch } from '../harness/relay-fetch.ts';

/** A JSON object of the management interface. */
export type Fields = Record<string, unknown> & { readonly id: string };

/** Where management calls go, and with which key. */
export type Site = Pick<Deployment, 'url' | 'adminToken'>;

export interface Answer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: Fields;
  readonly error: { readonly code: string; readonly message: string; readonly param: string | null } & Record<
    string,
    unknown
  >;
}

export async function ask(
  { url, adminToken }: Site,
  method: string,
  path: string,
  sent: { readonly body?: unknown; readonly ifMatch?: string | null } = {},
): Promise<Answer> {
  const { body, ifMatch } = sent;
  const headers = { ...bearer(adminToken), ...(ifMatch == null ? {} : { 'if-match': ifMatch }) };
  const answer = await relayFetch(url, method, `/api/relay${path}`, { headers, body });
  const parsed = (answer.body ?? {}) as Answer['body'] & Pick<Answer, 'error'>;
  return { status: answer.status, etag: answer.headers.get('etag'), body: parsed, error: parsed.error };
}

/** A call that must succeed. */
export async function done(site: Site, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await ask(site, method, path, body === undefined ? {} : { body });
  assert.ok(
    answer.status < 300,
    `${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
  );
  return answer;
}

export async function made(site: Site, path: string, body: unknown): Promise<Fields> {
  return (await done(site, 'POST', path, body)).body;
}

let count = 0;
/** A name that no other check uses. */
export function fresh(name: string): string {
  count += 1;
  return `${name} ${process.pid} ${count}`;
}

/** A provider with one endpoint for each model. */
export async function madeEndpoints(
  site: Deployment,
  ...models: readonly string[]
): Promise<{ provider: Fields; endpoints: Fields[] }> {
  const provider = await made(site, '/providers', {
    name: fresh('Provider'),
    base_url: site.provider.baseUrl,
    auth_mode: 'none',
  });
  const endpoints: Fields[] = [];
  for (const upstream_model of models) {
    const endpoint = { provider_id: provider.id, name: fresh(upstream_model), upstream_model };
    endpoints.push(await made(site, '/endpoints', { ...endpoint, route_kind: 'multi' }));
  }
  return { provider, endpoints };
}
