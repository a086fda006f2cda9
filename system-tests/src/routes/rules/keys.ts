import { allScopes, type Scope } from '@relay/contract';
import { checksumOf, type Role } from '../../harness/accounts.ts';
import { bearer } from '../../harness/relay-fetch.ts';
import { until } from '../../harness/until.ts';
import { type Answer, type Caller, idOf, itemsOf, textAt } from '../answer.ts';
import { invite } from '../walk-session.ts';
import { nobody } from '../world.ts';
import { recordOf } from './operations.ts';
import { infer, type Scene } from './scene.ts';

const KEYS = '/api/account/api-keys';
const LIMITS = '/api/relay/api-key-limit-policies';
const USED_MS_MAX = 20_000;

export interface Key {
  readonly id: string;
  readonly made: Answer;
  readonly caller: Caller;
}

let count = 0;

/** A key of the caller, made as a client makes it. */
export async function newKey(
  { world: { walk }, owner }: Scene,
  scopes: readonly string[],
  more: object = {},
  by: Caller = owner,
): Promise<Key> {
  count += 1;
  const body = { name: `Key ${count}`, scopes, ...more };
  const made = await walk.expect(by, `POST ${KEYS}`, '201', { body });
  const secret = textAt(made, 'api_key');
  walk.secrets.shownBy(made, 'the secret of a key', secret);
  return { id: idOf(made), made, caller: callerOf(secret) };
}

const callerOf = (secret: string): Caller => ({ ...nobody, headers: bearer(secret) });

/** A member and a key of theirs with these scopes, which they may hold or not. */
async function newMember(
  { world: { accounts }, owner: { organizationId } }: Scene,
  role: Role,
  scopes: readonly Scope[],
): Promise<{ readonly userId: string; readonly keyId: string; readonly caller: Caller }> {
  const userId = await accounts.addMember(organizationId, { role });
  const { id, key } = await accounts.addKey({ organizationId, userId, scopes });
  return { userId, keyId: id, caller: callerOf(key) };
}

async function listed({ world: { walk }, owner }: Scene, id: string): Promise<Record<string, unknown>> {
  const keys = itemsOf(await walk.send(owner, `GET ${KEYS}`));
  return keys.find((key) => key['id'] === id) ?? {};
}

/** What a key is made of, what it may hold, and what is known of its use. */
export async function checkKeys(scene: Scene): Promise<void> {
  const { walk } = scene.world;
  const made = await newKey(scene, ['relay:request']);
  const key = (made.made.body as { key: Record<string, unknown> }).key;
  const secret = textAt(made.made, 'api_key');
  const [, publicId = '', random = ''] = /^rly_([0-9A-Za-z]{10})_([0-9A-Za-z]{49})$/.exec(secret) ?? [];
  if (random.slice(-6) !== checksumOf(secret.slice(0, -6))) walk.fault('the secret of a key is malformed');
  const wanted = [`rly_${publicId}`, scene.owner.userId, null, null, null];
  const came = ['key_prefix', 'user_uuid', 'last_used_at', 'expires_at', 'revoked_at'].map(
    (name) => key[name],
  );
  if (JSON.stringify(came) !== JSON.stringify(wanted)) walk.fault(`a new key has ${JSON.stringify(came)}`);

  for (const scope of allScopes) {
    const { made: of } = await newKey(scene, [scope]);
    const { scopes } = (of.body as { key: { scopes: readonly string[] } }).key;
    const read = allScopes.find(
      (each) => scope.endsWith(':manage') && each === scope.replace('manage', 'read'),
    );
    for (const held of [scope, read ?? scope])
      if (!scopes.includes(held)) walk.fault(`a key made with ${scope} lacks ${held}`);
  }
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const ending = await newKey(scene, ['relay:request'], { expires_at });
  if ((await listed(scene, ending.id))['expires_at'] !== expires_at) walk.fault('a key ends at another time');

  const two = [await newKey(scene, ['relay:request']), made];
  for (const { id, caller } of two) {
    const record = await recordOf({ walk, owner: scene.owner }, await infer(scene, 'plain', { caller }));
    if (textAt(record, 'api_key_id') !== id) walk.fault('the record of a request names another key');
  }
  const isUsed = async () => typeof (await listed(scene, made.id))['last_used_at'] === 'string';
  if (!(await until(isUsed, USED_MS_MAX))) walk.fault('a key that was used has no last_used_at');
}

/** Only the name of a key changes; what is revoked stays revoked, and its siblings work. */
export async function checkRevocation(scene: Scene): Promise<void> {
  const { world, owner } = scene;
  const { walk } = world;
  const scopes = ['relay:request', 'relay:providers:read'];
  const [gone, sibling] = [await newKey(scene, scopes), await newKey(scene, scopes)];
  const policy = {
    target_type: 'global',
    metric: 'requests',
    period: 'month',
    limit_value: 1,
    enabled: true,
  };
  await walk.expect(owner, `POST ${LIMITS}`, '200', { body: { ...policy, api_key_uuid: gone.id } });
  for (const { caller } of [gone, sibling]) {
    const { status } = await infer(scene, 'plain', { caller });
    if (status !== 200) walk.fault(`a new key is answered ${status}`);
  }
  await walk.expect(owner, `DELETE ${KEYS}/${gone.id}`, '204');
  for (const [{ caller }, wanted] of [
    [gone, '401 revoked_api_key'],
    [sibling, '200'],
  ] as const) {
    await walk.expect(caller, 'GET /api/relay/providers', wanted);
    const { summary } = await infer(scene, 'plain', { caller });
    if (summary !== wanted)
      walk.fault(`after one key is revoked, inference answers ${summary}, not ${wanted}`);
  }
  const { status: ended } = await listed(scene, gone.id);
  const { status, revoked_at } = await listed(scene, sibling.id);
  if (ended !== 'revoked' || status !== 'active' || revoked_at !== null)
    walk.fault(`a sibling is ${String(status)}`);
  for (const { id } of [gone, sibling]) {
    const before = await listed(scene, id);
    const body = { name: 'Renamed', scopes: ['cloud:account:manage'] };
    await walk.send(owner, `PATCH ${KEYS}/${id}`, { body });
    await walk.expect(owner, `PATCH ${KEYS}/${id}`, '204', { body: { name: 'Renamed' } });
    const { etag, ...after } = await listed(scene, id);
    if (JSON.stringify(after) !== JSON.stringify({ ...before, name: 'Renamed', etag: undefined }))
      walk.fault(`renaming a key (version ${String(etag)}) changes more than its name`);
  }
  const replacement = await newKey(scene, scopes);
  const policies = itemsOf(await walk.send(owner, `GET ${LIMITS}`));
  if (policies.some((each) => each['api_key_uuid'] === replacement.id))
    walk.fault('a limit went to another key');
}

/** What a key may do follows from its scopes and from what its owner may do now. */
export async function checkIntersection(scene: Scene): Promise<void> {
  const { world, owner } = scene;
  const { walk } = world;
  const provider = () => ({ name: 'By a key', base_url: 'https://a.example.com/v1', auth_mode: 'none' });
  const creates = (caller: Caller, wanted: string) =>
    walk.expect(caller, 'POST /api/relay/providers', wanted, { body: provider() });
  for (const change of [{ role: 'viewer' }, { status: 'suspended' }]) {
    const { userId, caller } = await newMember(scene, 'admin', ['relay:providers:manage', 'relay:request']);
    await creates(caller, '201');
    await walk.expect(owner, `PATCH /api/org/members/${userId}`, '200', { body: change });
    await creates(caller, '403 permission_denied');
    const { summary } = await infer(scene, 'plain', { caller });
    if (summary !== '403 permission_denied')
      walk.fault(`inference after ${JSON.stringify(change)}: ${summary}`);
  }
  const { userId, caller } = await newMember(scene, 'viewer', [
    'relay:providers:read',
    'cloud:account:manage',
  ]);
  await walk.expect(owner, `PATCH /api/org/members/${userId}`, '200', { body: { role: 'admin' } });
  await creates(caller, '403 insufficient_scope');
  const all = { organizationId: owner.organizationId, userId, scopes: allScopes };
  const promoted = callerOf((await world.accounts.addKey(all)).key);
  const next = await newKey(scene, ['relay:providers:manage'], {}, promoted);
  await creates(next.caller, '201');

  const worker = await newMember(scene, 'developer', ['relay:request', 'cloud:account:manage']);
  const account = await walk.expect(worker.caller, 'GET /api/account', '200');
  if (textAt(account, 'user', 'id') !== worker.userId || textAt(account, 'role') !== 'developer')
    walk.fault('a key does not act as its owner');
  const developer = await invite(world, owner);
  const tooMuch = { body: { name: 'Too much', scopes: ['relay:providers:manage'] } };
  await walk.expect(developer ?? nobody, `POST ${KEYS}`, '403 permission_denied', tooMuch);
  const offered = await walk.expect(developer ?? nobody, 'GET /api/account/api-key-scopes', '200');
  if (!offered.text.includes('"relay:request"') || offered.text.includes('cloud:billing:read'))
    walk.fault(`a developer is offered ${offered.text}`);
  const held = ['cloud:account:manage', 'relay:request'];
  const some = await newKey(scene, held);
  // With fewer scopes than its own, and never with more.
  await newKey(scene, ['relay:request'], {}, some.caller);
  const broader = { body: { name: 'Broader', scopes: ['relay:providers:read'] } };
  await walk.expect(some.caller, `POST ${KEYS}`, '403 permission_denied', broader);
  const { body } = await walk.expect(some.caller, 'GET /api/account/api-key-scopes', '200');
  const { scopes } = body as { scopes: string[] };
  if (scopes.toSorted().join() !== held.join())
    walk.fault(`a key with two scopes is offered ${scopes.join()}`);
}

/** Members see their own limits; who may see all of them does, and revokes keys of others. */
export async function checkVisibility(scene: Scene): Promise<void> {
  const { world, owner } = scene;
  const { walk } = world;
  const one = await newMember(scene, 'developer', ['relay:request']);
  const other = (await invite(world, owner)) ?? nobody;
  const limit = { target_type: 'global', metric: 'requests', period: 'month', limit_value: 1_000_000 };
  const kinds = [
    ['/api/relay/pro/user-limit-policies', { user_uuid: one.userId }, 'user_uuid'],
    [LIMITS, { api_key_uuid: one.keyId }, 'owner_user_uuid'],
  ] as const;
  const reader = await newKey(scene, ['relay:limits:read:organization']);
  for (const [path, subject, field] of kinds) {
    await walk.expect(owner, `POST ${path}`, '200', { body: { ...subject, ...limit } });
    const seenBy = async (caller: Caller) => {
      const owners = itemsOf(await walk.expect(caller, `GET ${path}`, '200')).map((each) => each[field]);
      return [owners.includes(one.userId), owners.some((each) => each !== one.userId)].join();
    };
    if ((await seenBy(one.caller)) !== 'true,false')
      walk.fault(`GET ${path}: a member does not see just their own`);
    if ((await seenBy(other)).startsWith('true')) walk.fault(`GET ${path}: another member sees it`);
    if (!(await seenBy(reader.caller)).startsWith('true'))
      walk.fault(`GET ${path}: it is hidden from a reader of all`);
  }
  const security = await newKey(scene, ['cloud:security:manage']);
  const keys = itemsOf(await walk.expect(security.caller, 'GET /api/org/api-keys', '200'));
  if (!keys.some(({ id }) => id === one.keyId)) walk.fault('GET /api/org/api-keys: a key is missing');
  await walk.expect(other, 'GET /api/org/api-keys', '403 permission_denied');
  await walk.expect(other, `DELETE /api/org/api-keys/${one.keyId}`, '403 permission_denied');
  await walk.expect(security.caller, `DELETE /api/org/api-keys/${one.keyId}`, '204');
  await walk.expect(one.caller, 'GET /v1/models', '401 revoked_api_key');
}
