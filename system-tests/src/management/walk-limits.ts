import { type Caller, idOf, itemsOf, NO_ID } from './answer.ts';
import * as fields from './fields/limit.ts';
import { ok } from './fields/shared.ts';
import { listOf, nothing, type Shape } from './shape.ts';
import type { World } from './world.ts';

/** The rows of section 4.2 about limits: of resources, of members and of keys, and the rules below the table. */
export async function walkLimits({ walk, accounts, memberId }: World, caller: Caller): Promise<void> {
  await walkResourcePolicies({ walk }, caller);
  const { id: keyId } = walk.mode.accounts
    ? await accounts.addKey({
        organizationId: caller.organizationId,
        userId: memberId,
        scopes: ['relay:request'],
      })
    : { id: NO_ID };
  await walkBudgets({ walk }, caller, {
    path: '/api/relay/pro/user-limit-policies',
    list: fields.userPolicies,
    subject: { user_uuid: memberId },
    limit: { target_type: 'global', metric: 'tokens', period: 'day', enabled: true },
  });
  await walkBudgets({ walk }, caller, {
    path: '/api/relay/api-key-limit-policies',
    list: fields.keyPolicies,
    subject: { api_key_uuid: keyId },
    limit: { target_type: 'global', metric: 'requests', period: 'minute', enabled: true },
  });
}

async function walkResourcePolicies({ walk }: Pick<World, 'walk'>, caller: Caller): Promise<void> {
  const path = '/api/relay/limit-policies';
  const body = {
    scope_type: 'global',
    metric: 'requests',
    period: 'minute',
    limit_value: 600,
    enabled: true,
  };
  await walk.expect(caller, `GET ${path}`, '200', listOf(fields.limitPolicy));
  const made = await walk.expect(caller, `POST ${path}`, '201', fields.limitPolicy, { body });
  const more = { body: { ...body, limit_value: 700, enabled: false } };
  const changed = await walk.expect(caller, `PUT ${path}/${idOf(made)}`, '200', fields.limitPolicy, more);
  if (changed.status === 200 && !changed.text.includes('"limit_value":700'))
    walk.fault(`PUT ${path}: the limit stays`);
  await walk.expect(caller, `GET ${path}/${idOf(made)}`, '200', fields.limitPolicy);
  await walk.expect(caller, `DELETE ${path}/${idOf(made)}`, '204', nothing);
}

interface Budgets {
  readonly path: string;
  readonly list: Shape;
  readonly subject: Readonly<Record<string, string>>;
  readonly limit: object;
}

async function walkBudgets(
  { walk }: Pick<World, 'walk'>,
  caller: Caller,
  { path, list, subject, limit }: Budgets,
): Promise<void> {
  const find = async () => {
    const listed = itemsOf(await walk.expect(caller, `GET ${path}`, '200', list));
    const [name = '', value] = Object.entries(subject)[0] ?? [];
    return listed.filter((policy) => policy[name] === value);
  };
  const body = { ...subject, ...limit, limit_value: 1_000 };
  await walk.expect(caller, `POST ${path}`, '200', ok, { body });
  // A create gives no id away; the list does.
  const [made] = await find();
  const limit_uuid = String(made?.['limit_uuid'] ?? NO_ID);
  if (walk.mode.accounts && (made?.['id'] !== limit_uuid || made['limit_value'] !== 1_000))
    walk.fault(`GET ${path}: the budget is ${JSON.stringify(made)}`);
  const change = { body: { ...body, limit_uuid, limit_value: 2_000 } };
  await walk.expect(caller, `POST ${path}`, '200', ok, change);
  const [changed, ...others] = await find();
  if (walk.mode.accounts && (changed?.['limit_value'] !== 2_000 || others.length > 0))
    walk.fault(`GET ${path}: after the change it is ${JSON.stringify([changed, ...others])}`);
  await walk.expect(caller, 'GET /api/relay/limits/usage', '200', listOf(fields.limitUsage));
  await walk.expect(caller, `DELETE ${path}?limit_uuid=${limit_uuid}`, '200', ok);
  if ((await find()).length > 0) walk.fault(`GET ${path}: a deleted budget is listed`);
}
