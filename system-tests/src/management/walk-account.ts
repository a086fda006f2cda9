import { type Caller, idOf, itemsOf, textAt } from './answer.ts';
import * as fields from './fields/account.ts';
import { nothing } from './shape.ts';
import { nobody, type World } from './world.ts';

/** The rows of section 4.2 about the account and its keys, and the billing history. */
export async function walkAccount({ walk, memberId }: World, caller: Caller): Promise<void> {
  const read = await walk.expect(caller, 'GET /api/account', '200', fields.account);
  if (textAt(read, 'role') !== 'owner') walk.fault('GET /api/account: the caller is no owner');
  if (textAt(read, 'org', 'id') !== caller.organizationId || textAt(read, 'user', 'id') !== caller.userId)
    walk.fault('GET /api/account: it is the account of somebody else');

  const name = { body: { name: 'Ada Lovelace' } };
  const renamed = await walk.expect(caller, 'PATCH /api/account', '200', fields.userEnvelope, name);
  if (textAt(renamed, 'user', 'name') !== 'Ada Lovelace') walk.fault('PATCH /api/account: the name stays');
  const preferences = { body: { marketing_opt_in: true } };
  const line = 'PATCH /api/account/preferences';
  const told = await walk.expect(caller, line, '200', fields.userEnvelope, preferences);
  if (!told.text.includes('"marketing_opt_in":true')) walk.fault(`${line}: the preference stays`);

  await walkKeys({ walk }, caller);
  await walk.expect(caller, 'GET /api/billing/history', '200', fields.billingHistory);
  await walkOrganizationKeys({ walk, memberId }, caller);
}

async function walkKeys({ walk }: Pick<World, 'walk'>, caller: Caller): Promise<void> {
  const body = { name: 'Deploy bot', scopes: ['relay:providers:manage', 'cloud:account:manage'] };
  const keys = '/api/account/api-keys';
  const made = await walk.expect(caller, `POST ${keys}`, '201', fields.apiKeyCreated, { body });
  const secret = textAt(made, 'api_key');
  walk.secrets.shownBy(made, 'the secret of a key', secret);
  const id = idOf(made);
  await walk.expect(caller, 'GET /api/account/api-key-scopes', '200', fields.scopeList);

  const { scopes, key_prefix } = (made.body as { key: { scopes: string[]; key_prefix: string } }).key;
  if (scopes.join() !== 'relay:providers:read,relay:providers:manage,cloud:account:manage')
    walk.fault(`POST ${keys}: manage does not list read as well, but ${scopes.join()}`);
  if (!secret.startsWith(`${key_prefix}_`)) walk.fault(`POST ${keys}: the prefix is of another key`);
  const owner = { ...nobody, headers: { authorization: `Bearer ${secret}` } };
  await walk.expect(owner, 'GET /api/relay/providers', '200', () => []);
  const broader = { body: { name: 'Broader', scopes: ['relay:request'] } };
  await walk.expect(owner, `POST ${keys}`, '403 permission_denied', nothing, broader);

  await walk.expect(caller, `PATCH ${keys}/${id}`, '204', nothing, { body: { name: 'Deploy robot' } });
  const listed = await walk.expect(caller, `GET ${keys}`, '200', fields.apiKeyList);
  const one = itemsOf(listed).find((key) => key['id'] === id);
  if (one?.['name'] !== 'Deploy robot' || one['status'] !== 'active')
    walk.fault(`GET ${keys}: the renamed key is ${JSON.stringify(one)}`);

  await walk.expect(caller, `DELETE ${keys}/${id}`, '204', nothing);
  const revoked = { ...nobody, headers: { authorization: `Bearer ${secret}` } };
  await walk.expect(revoked, 'GET /api/relay/providers', '401 revoked_api_key', nothing);
  const after = itemsOf(await walk.expect(caller, `GET ${keys}`, '200', fields.apiKeyList));
  const gone = after.find((key) => key['id'] === id);
  if (gone?.['status'] !== 'revoked' || gone['revoked_at'] === null)
    walk.fault(`GET ${keys}: the revoked key is ${JSON.stringify(gone)}`);
}

/** Beyond the specification: keys of other members. */
async function walkOrganizationKeys(
  { walk, memberId }: Pick<World, 'walk' | 'memberId'>,
  caller: Caller,
): Promise<void> {
  const body = { user_uuid: memberId, name: 'For Grace', scopes: ['relay:request'] };
  const made = await walk.expect(caller, 'POST /api/org/api-keys', '201', fields.apiKeyCreated, { body });
  walk.secrets.shownBy(made, 'the secret of a member’s key', textAt(made, 'api_key'));
  const listed = await walk.expect(caller, 'GET /api/org/api-keys', '200', fields.apiKeys);
  if (!itemsOf(listed).some((key) => key['id'] === idOf(made)))
    walk.fault('GET /api/org/api-keys: the key of a member is not listed');
  const labelled = { body: { labels: { app: 'walk' } } };
  await walk.expect(caller, `PUT /api/org/api-keys/${idOf(made)}`, '200', fields.apiKey, labelled);
  await walk.expect(caller, `DELETE /api/org/api-keys/${idOf(made)}`, '204', nothing);
}
