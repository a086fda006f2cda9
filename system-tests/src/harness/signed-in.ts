import type { Deployment } from './deployment.ts';

/** The headers of the operator's browser, signed in with the admin token. */
export async function signedIn(
  site: Pick<Deployment, 'url' | 'adminToken'>,
): Promise<{ cookie: string; 'x-csrf-token': string }> {
  const response = await fetch(`${site.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: site.adminToken }),
  });
  if (response.status !== 201) throw new Error(`POST /api/session answered ${response.status}`);
  const { csrf_token } = (await response.json()) as { csrf_token: string };
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  return { cookie, 'x-csrf-token': csrf_token };
}
