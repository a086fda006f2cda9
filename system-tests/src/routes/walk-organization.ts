import { DEPLOYMENT_USER_ID } from '@relay/contract';
import { type Caller, itemsOf, NO_ID, textAt } from './answer.ts';
import type { World } from './world.ts';

/** A member who is promoted, suspended and removed, and what the deployment can do. */
export async function walkOrganization(world: World, caller: Caller): Promise<void> {
  const { walk, accounts } = world;
  const { organizationId } = caller;
  const id = walk.mode.accounts
    ? await accounts.addMember(organizationId, { role: 'viewer', name: 'Leaving' })
    : NO_ID;
  const path = '/api/org/members';
  const listed = await walk.expect(caller, `GET ${path}`, '200');
  // Where there are people, the admin token is none of them.
  const isToken = walk.mode.accounts && caller.userId === DEPLOYMENT_USER_ID;
  if (itemsOf(listed).some((member) => member['id'] === caller.userId) === isToken)
    walk.fault(`GET ${path}: the caller is ${isToken ? '' : 'not '}listed`);
  const promoted = { body: { role: 'billing' } };
  await walk.expect(caller, `PATCH ${path}/${id}`, '200', promoted);
  const suspended = { body: { status: 'suspended' } };
  const after = await walk.expect(caller, `PATCH ${path}/${id}`, '200', suspended);
  if (after.status === 200 && textAt(after, 'status') !== 'suspended')
    walk.fault(`PATCH ${path}: the status stays`);
  await walk.expect(caller, `DELETE ${path}/${id}`, '204');

  await walkCapabilities(world, caller);
}

/** What the link of an invitation carries. */
export function tokenOf(acceptUrl: string): string {
  return acceptUrl.split('#token=')[1] ?? '';
}

async function walkCapabilities({ walk }: World, caller: Caller): Promise<void> {
  const line = 'GET /api/relay/capabilities';
  const told = await walk.expect(caller, line, '200');
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
