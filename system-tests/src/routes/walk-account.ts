import { type Caller, idOf, itemsOf, textAt } from './answer.ts';
import { nobody, type World } from './world.ts';

/** Whose account it is, what its keys open and what it pays. */
export async function walkAccount({ walk }: World, caller: Caller): Promise<void> {
  const read = await walk.expect(caller, 'GET /api/account', '200');
  if (textAt(read, 'role') !== 'owner') walk.fault('GET /api/account: the caller is no owner');
  if (textAt(read, 'org', 'id') !== caller.organizationId || textAt(read, 'user', 'id') !== caller.userId)
    walk.fault('GET /api/account: it is the account of somebody else');
  await walkKeys({ walk }, caller);
  // Nothing is charged for through Relay itself.
  const bill = await walk.expect(caller, 'GET /api/billing/history', '200');
  const records = Object.values(bill.body as Record<string, readonly unknown[]>).flat();
  if (records.length > 0) walk.fault(`GET /api/billing/history: ${JSON.stringify(records)}`);
}

async function walkKeys({ walk }: Pick<World, 'walk'>, caller: Caller): Promise<void> {
  const body = { name: 'Deploy bot', scopes: ['relay:providers:manage', 'cloud:account:manage'] };
  const keys = '/api/account/api-keys';
  const made = await walk.expect(caller, `POST ${keys}`, '201', { body });
  const secret = textAt(made, 'api_key');
  walk.secrets.shownBy(made, 'the secret of a key', secret);
  const id = idOf(made);
  const { scopes, key_prefix } = (made.body as { key: { scopes: string[]; key_prefix: string } }).key;
  if (scopes.join() !== 'relay:providers:read,relay:providers:manage,cloud:account:manage')
    walk.fault(`POST ${keys}: manage does not list read as well, but ${scopes.join()}`);
  if (!secret.startsWith(`${key_prefix}_`)) walk.fault(`POST ${keys}: the prefix is of another key`);
  const owner = { ...nobody, headers: { authorization: `Bearer ${secret}` } };
  await walk.expect(owner, 'GET /api/relay/providers', '200');
  const broader = { body: { name: 'Broader', scopes: ['relay:request'] } };
  await walk.expect(owner, `POST ${keys}`, '403 permission_denied', broader);

  const listed = async () => {
    const found = itemsOf(await walk.expect(caller, `GET ${keys}`, '200')).find((key) => key['id'] === id);
    return [found?.['name'], found?.['status'], found?.['revoked_at'] !== null].join();
  };
  await walk.expect(caller, `PATCH ${keys}/${id}`, '204', { body: { name: 'Deploy robot' } });
  const renamed = await listed();
  if (renamed !== 'Deploy robot,active,false') walk.fault(`GET ${keys}: the renamed key is ${renamed}`);
  await walk.expect(caller, `DELETE ${keys}/${id}`, '204');
  await walk.expect(owner, 'GET /api/relay/providers', '401 revoked_api_key');
  const revoked = await listed();
  if (revoked !== 'Deploy robot,revoked,true') walk.fault(`GET ${keys}: the revoked key is ${revoked}`);
}
