import { type Caller, idOf, itemsOf, NO_ID, textAt } from './answer.ts';
import type { World } from './world.ts';

/** The limits of members and of keys, which are created and changed by the same route. */
export async function walkLimits({ walk, memberId }: World, caller: Caller): Promise<void> {
  const keyBody = { user_uuid: memberId, name: 'Limited', scopes: ['relay:request'] };
  const key = await walk.expect(caller, 'POST /api/org/api-keys', '201', { body: keyBody });
  walk.secrets.shownBy(key, 'the secret of a limited key', textAt(key, 'api_key'));
  await walkBudgets({ walk }, caller, {
    path: '/api/relay/pro/user-limit-policies',
    subject: { user_uuid: memberId },
    limit: { target_type: 'global', metric: 'tokens', period: 'day', enabled: true },
  });
  await walkBudgets({ walk }, caller, {
    path: '/api/relay/api-key-limit-policies',
    subject: { api_key_uuid: idOf(key) },
    limit: { target_type: 'global', metric: 'requests', period: 'minute', enabled: true },
  });
}

interface Budgets {
  readonly path: string;
  readonly subject: Readonly<Record<string, string>>;
  readonly limit: object;
}

async function walkBudgets(
  { walk }: Pick<World, 'walk'>,
  caller: Caller,
  { path, subject, limit }: Budgets,
): Promise<void> {
  const find = async () => {
    const listed = itemsOf(await walk.expect(caller, `GET ${path}`, '200'));
    const [name = '', value] = Object.entries(subject)[0] ?? [];
    return listed.filter((policy) => policy[name] === value);
  };
  const body = { ...subject, ...limit, limit_value: 1_000 };
  await walk.expect(caller, `POST ${path}`, '200', { body });
  // A create gives no id away; the list does.
  const [made] = await find();
  const limit_uuid = String(made?.['limit_uuid'] ?? NO_ID);
  if (made?.['id'] !== limit_uuid || made['limit_value'] !== 1_000)
    walk.fault(`GET ${path}: the budget is ${JSON.stringify(made)}`);
  await walk.expect(caller, `POST ${path}`, '200', { body: { ...body, limit_uuid, limit_value: 2_000 } });
  const [changed, ...others] = await find();
  if (changed?.['limit_value'] !== 2_000 || others.length > 0)
    walk.fault(`GET ${path}: after the change it is ${JSON.stringify([changed, ...others])}`);
  await walk.expect(caller, `DELETE ${path}?limit_uuid=${limit_uuid}`, '200');
  if ((await find()).length > 0) walk.fault(`GET ${path}: a deleted budget is listed`);
}
