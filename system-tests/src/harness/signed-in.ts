import type { Deployment } from './deployment.ts';
import { relayFetch } from './relay-fetch.ts';

/** The headers of the operator's browser, signed in with the admin token. */
export async function signedIn(
  site: Pick<Deployment, 'url' | 'adminToken'>,
): Promise<{ cookie: string; 'x-csrf-token': string }> {
  const body = { token: site.adminToken };
  const answer = await relayFetch(site.url, 'POST', '/api/session', { body });
  if (answer.status !== 201) throw new Error(`POST /api/session answered ${answer.status}`);
  const { csrf_token } = answer.body as { csrf_token: string };
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { cookie, 'x-csrf-token': csrf_token };
}
