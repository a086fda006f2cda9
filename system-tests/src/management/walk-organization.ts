import { type Caller, idOf, itemsOf, NO_ID, textAt } from './answer.ts';
import * as fields from './fields/account.ts';
import { statsSummary } from './fields/usage.ts';
import { listOf, nothing } from './shape.ts';
import type { World } from './world.ts';

/** Members, invitations, the audit log, and what the deployment has and can do. */
export async function walkOrganization(world: World, caller: Caller): Promise<void> {
  const { walk, accounts } = world;
  const { organizationId } = caller;
  const id = walk.mode.accounts
    ? await accounts.addMember(organizationId, { role: 'viewer', name: 'Leaving' })
    : NO_ID;
  const path = '/api/org/members';
  const listed = await walk.expect(caller, `GET ${path}`, '200', listOf(fields.member));
  if (!itemsOf(listed).some((member) => member['id'] === caller.userId))
    walk.fault(`GET ${path}: the caller is not listed`);
  const promoted = { body: { role: 'billing' } };
  await walk.expect(caller, `PATCH ${path}/${id}`, '200', fields.member, promoted);
  const suspended = { body: { status: 'suspended' } };
  const after = await walk.expect(caller, `PATCH ${path}/${id}`, '200', fields.member, suspended);
  if (after.status === 200 && textAt(after, 'status') !== 'suspended')
    walk.fault(`PATCH ${path}: the status stays`);
  await walk.expect(caller, `DELETE ${path}/${id}`, '204', nothing);

  const renamed = { body: { name: 'Renamed' } };
  await walk.expect(caller, 'PATCH /api/org', '200', fields.org, renamed);

  await walkInvitations(world, caller);
  await walk.expect(caller, 'GET /api/relay/audit-log', '200', fields.auditPage);
  await walkCapabilities(world, caller);
  await walk.expect(caller, 'GET /api/relay/stats/summary', '200', statsSummary);
}

/** What the link of an invitation carries. */
export function tokenOf(acceptUrl: string): string {
  return acceptUrl.split('#token=')[1] ?? '';
}

async function walkInvitations({ walk }: World, caller: Caller): Promise<void> {
  const path = '/api/org/invitations';
  const body = { email: `walked-${caller.userId}@example.com`, role: 'viewer' };
  const made = await walk.expect(caller, `POST ${path}`, '201', fields.invitationCreated, { body });
  walk.secrets.shownBy(made, 'the token of an invitation', tokenOf(textAt(made, 'accept_url')));
  const listed = itemsOf(await walk.expect(caller, `GET ${path}`, '200', listOf(fields.invitation)));
  if (walk.mode.accounts && !listed.some((each) => each['id'] === idOf(made)))
    walk.fault(`GET ${path}: an open invitation is not listed`);
  await walk.expect(caller, `DELETE ${path}/${idOf(made)}`, '204', nothing);
}

async function walkCapabilities({ walk }: World, caller: Caller): Promise<void> {
  const line = 'GET /api/relay/capabilities';
  const told = await walk.expect(caller, line, '200', fields.capabilities);
  const { mode, accounts, features } = told.body as {
    mode: string;
    accounts: boolean;
    features: Record<string, boolean>;
  };
  if (mode !== (walk.mode.hosted ? 'hosted' : 'self_hosted')) walk.fault(`${line}: the mode is ${mode}`);
  if (accounts !== walk.mode.accounts) walk.fault(`${line}: accounts is ${accounts}`);
  if (features['resource_limit_policies'] === walk.mode.hosted)
    walk.fault(`${line}: resource_limit_policies is ${features['resource_limit_policies']}`);
}
