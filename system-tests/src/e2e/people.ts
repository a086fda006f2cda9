import type { Deployment } from '../harness/deployment.ts';

export const PASSWORD = 'correct horse battery staple';

/** Somebody who was invited and has joined; answers their address. */
export async function addMember(site: Deployment, role: 'viewer' | 'developer' | 'admin'): Promise<string> {
  const email = `${role}@example.com`;
  const answer = await site.admin.call('POST', '/api/org/invitations', { email, role });
  const { accept_url: link } = answer.body as { accept_url: string };
  const url = new URL(link);
  const token = url.searchParams.get('token') ?? url.hash.replace(/^#(token=)?/, '');
  const accepted = await fetch(`${site.url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, name: role, password: PASSWORD }),
  });
  if (accepted.status !== 201) throw new Error(`the invitation was not accepted: ${await accepted.text()}`);
  return email;
}
