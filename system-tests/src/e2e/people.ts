import type { Deployment } from '../harness/deployment.ts';

export const PASSWORD = 'correct horse battery staple';

interface PersonSetup {
  readonly name: string;
  readonly email: string;
  readonly role: 'viewer' | 'developer' | 'admin' | 'billing' | 'owner';
}

/** Invites a member as the operator and accepts the invitation; returns the member's email address. */
export async function addPerson(site: Deployment, { name, email, role }: PersonSetup): Promise<string> {
  const link = await inviteLink(site, email, role);
  const accepted = await fetch(`${site.url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: new URL(link).hash.replace(/^#token=/, ''), name, password: PASSWORD }),
  });
  if (accepted.status !== 201) throw new Error(`the invitation was not accepted: ${await accepted.text()}`);
  return email;
}

/** A member with this role and any name. */
export function addMember(site: Deployment, role: PersonSetup['role']): Promise<string> {
  return addPerson(site, { name: role, email: `${role}@example.com`, role });
}

/** The link that the operator shares with an invited member. */
export async function inviteLink(
  site: Deployment,
  email: string,
  role: PersonSetup['role'],
): Promise<string> {
  const answer = await site.admin.call('POST', '/api/org/invitations', { email, role });
  return (answer.body as { accept_url: string }).accept_url;
}

/** A team in all roles, one of whom has not come yet; the admin is `ada@example.com`. */
export async function seedPeople(site: Deployment): Promise<void> {
  await addPerson(site, { name: 'Ada Lovelace', email: 'ada@example.com', role: 'admin' });
  await addPerson(site, { name: 'Grace Hopper', email: 'grace@example.com', role: 'developer' });
  await addKeyOf(site, 'grace@example.com', 'Experiments');
  await addPerson(site, { name: 'Alan Turing', email: 'alan@example.com', role: 'viewer' });
  await inviteLink(site, 'katherine@example.com', 'billing');
}

async function addKeyOf(site: Deployment, email: string, name: string): Promise<void> {
  const members = (await site.admin.call('GET', '/api/org/members')).body as { id: string; email: string }[];
  const owner = members.find((member) => member.email === email);
  const key = { user_uuid: owner?.id, name, scopes: ['relay:request'] };
  await site.admin.create('/api/org/api-keys', key);
}
