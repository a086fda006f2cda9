import { type Caller, idOf, itemsOf, NO_ID, textAt } from './answer.ts';
import { apiKeyCreated } from './fields/account.ts';
import * as alertFields from './fields/alert.ts';
import * as fields from './fields/limit.ts';
import { ok } from './fields/shared.ts';
import { listOf, nothing, type Shape } from './shape.ts';
import type { World } from './world.ts';

/** The rows of section 4.2 about limits: of resources, of members and of keys, and the rules below the table. */
export async function walkLimits({ walk, memberId }: World, caller: Caller): Promise<void> {
  await walkResourcePolicies({ walk }, caller);
  await walkAlerts({ walk }, caller);
  const keyBody = { user_uuid: memberId, name: 'Limited', scopes: ['relay:request'] };
  const key = await walk.expect(caller, 'POST /api/org/api-keys', '201', apiKeyCreated, { body: keyBody });
  walk.secrets.shownBy(key, 'the secret of a limited key', textAt(key, 'api_key'));
  await walkBudgets({ walk }, caller, {
    path: '/api/relay/pro/user-limit-policies',
    list: fields.userPolicies,
    subject: { user_uuid: memberId },
    limit: { target_type: 'global', metric: 'tokens', period: 'day', enabled: true },
  });
  await walkBudgets({ walk }, caller, {
    path: '/api/relay/api-key-limit-policies',
    list: fields.keyPolicies,
    subject: { api_key_uuid: idOf(key) },
    limit: { target_type: 'global', metric: 'requests', period: 'minute', enabled: true },
  });
  await walkTeams({ walk }, caller);
}

async function walkTeams({ walk }: Pick<World, 'walk'>, caller: Caller): Promise<void> {
  const path = '/api/relay/teams';
  const body = { name: 'Walkers', kind: 'project' };
  const change = { body: { ...body, name: 'Runners' } };
  const made = await walk.expect(caller, `POST ${path}`, '201', fields.team, { body });
  await walk.expect(caller, `GET ${path}`, '200', listOf(fields.team));
  await walk.expect(caller, `PUT ${path}/${idOf(made)}`, '200', fields.team, change);
  await walk.expect(caller, `GET ${path}/${idOf(made)}`, '200', fields.team);
  const policies = '/api/relay/team-limit-policies';
  const limit = { target_type: 'global', metric: 'tokens', period: 'week', limit_value: 1_000 };
  await walk.expect(caller, `POST ${policies}`, '200', ok, { body: { team_uuid: idOf(made), ...limit } });
  const listed = await walk.expect(caller, `GET ${policies}`, '200', fields.teamPolicies);
  const own = itemsOf(listed).find((policy) => policy['team_uuid'] === idOf(made));
  await walk.expect(caller, `DELETE ${policies}?limit_uuid=${String(own?.['limit_uuid'])}`, '200', ok);
  await walk.expect(caller, `DELETE ${path}/${idOf(made)}`, '204', nothing);
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

async function walkAlerts({ walk }: Pick<World, 'walk'>, caller: Caller): Promise<void> {
  const path = '/api/relay/alert-destinations';
  const body = { name: 'Pager', kind: 'webhook', url: 'https://alerts.example.com/hook' };
  const made = await walk.expect(caller, `POST ${path}`, '201', alertFields.alertDestinationCreated, {
    body,
  });
  walk.secrets.shownBy(made, 'the secret of an alert destination', textAt(made, 'secret'));
  const one = `${path}/${idOf(made)}`;
  await walk.expect(caller, `GET ${path}`, '200', listOf(alertFields.alertDestination));
  await walk.expect(caller, `GET ${one}`, '200', alertFields.alertDestination);
  const change = { body: { name: 'Pager 2', enabled: false } };
  await walk.expect(caller, `PUT ${one}`, '200', alertFields.alertDestination, change);
  await walk.expect(caller, `POST ${one}/test`, '200', alertFields.alertTest);
  await walk.expect(caller, `DELETE ${one}`, '204', nothing);
  await walk.expect(caller, 'GET /api/relay/alerts', '200', alertFields.alerts);
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
  if (made?.['id'] !== limit_uuid || made['limit_value'] !== 1_000)
    walk.fault(`GET ${path}: the budget is ${JSON.stringify(made)}`);
  const change = { body: { ...body, limit_uuid, limit_value: 2_000 } };
  await walk.expect(caller, `POST ${path}`, '200', ok, change);
  const [changed, ...others] = await find();
  if (changed?.['limit_value'] !== 2_000 || others.length > 0)
    walk.fault(`GET ${path}: after the change it is ${JSON.stringify([changed, ...others])}`);
  await walk.expect(caller, 'GET /api/relay/limits/usage', '200', listOf(fields.limitUsage));
  await walk.expect(caller, 'GET /api/relay/limits/next?limit=5', '200', fields.nextLimits);
  await walk.expect(caller, `DELETE ${path}?limit_uuid=${limit_uuid}`, '200', ok);
  if ((await find()).length > 0) walk.fault(`GET ${path}: a deleted budget is listed`);
}
