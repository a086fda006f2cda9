import { allScopes } from '@relay/contract';
import type { Accounts } from '../harness/accounts.ts';
import { adminClient, createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { addPerson, inviteLink } from './people.ts';

export interface Caller {
  readonly mode: 'self_hosted' | 'hosted';
  /** `token`: the operator, signed in with the admin token. */
  readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing' | 'token';
  /** The name of the member, which begins the names of what was seeded for them. */
  readonly name: string;
  readonly email: string;
}

/** A lane that answers, and an owner besides the caller. Hosted, the organization and a key of its first owner. */
export async function seedOrganization(deployment: Deployment, accounts?: Accounts): Promise<Deployment> {
  let site = deployment;
  if (accounts !== undefined) {
    const organizationId = await accounts.addOrganization({ plan: 'team' });
    const userId = await accounts.addMember(organizationId, { role: 'owner', name: 'Founder' });
    const { key } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
    site = { ...deployment, admin: adminClient(deployment.url, key) };
  }
  await createLane(site.admin, {
    name: 'Assistant',
    endpoints: [{ baseUrl: site.provider.baseUrl, upstreamModel: 'sim-chat' }],
  });
  await addPerson(site, { name: 'Other owner', email: 'other-owner@example.com', role: 'owner' });
  return site;
}

/** The caller, and a resource of each kind for them to change and delete. */
export async function seedFor(site: Deployment, who: Pick<Caller, 'mode' | 'role'>): Promise<Caller> {
  const { admin, provider } = site;
  const { mode, role } = who;
  const name = `x-${role}`;
  const email = `${name}@example.com`;
  if (role !== 'token') await addPerson(site, { name, email, role });
  await addPerson(site, { name: `${name} spare`, email: `${name}-spare@example.com`, role: 'developer' });
  await inviteLink(site, `${name}-guest@example.com`, 'viewer');
  const { body } = await admin.call('GET', '/api/org/members');
  const spare = (body as { id: string; email: string }[]).find(
    (each) => each.email === `${name}-spare@example.com`,
  );
  const key = { user_uuid: spare?.id, name: `${name} seeded key`, scopes: ['relay:request'] };
  await admin.create('/api/org/api-keys', key);
  await admin.create('/api/relay/routing-lanes', { name: `${name} lane` });
  await admin.create('/api/relay/providers', { name: `${name} provider`, base_url: provider.baseUrl });
  const providers = (await admin.call('GET', '/api/relay/providers')).body as { id: string; name: string }[];
  await admin.create('/api/relay/endpoints', {
    provider_id: providers.find((each) => each.name === 'Assistant 1')?.id,
    name: `${name} endpoint`,
    upstream_model: `model-of-${name}`,
    route_kind: 'multi',
  });
  await admin.create('/api/relay/guardrails', {
    name: `${name} guardrail`,
    preset_slug: 'custom-http',
    base_url: 'https://guard.example.com/check',
    auth_mode: 'none',
  });
  await admin.create('/api/relay/teams', { name: `${name} team`, kind: 'team' });
  const pager = { name: `${name} pager`, kind: 'webhook', url: 'https://alerts.example.com/relay' };
  await admin.create('/api/relay/alert-destinations', pager);
  return { mode, role, name, email };
}
