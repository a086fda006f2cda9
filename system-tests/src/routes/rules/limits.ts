import { headers as names } from '@relay/contract';
import { until } from '../../harness/until.ts';
import { type Caller, itemsOf } from '../answer.ts';
import { invite } from '../walk-session.ts';
import { type Key, newKey } from './keys.ts';
import { header, infer, type Scene } from './scene.ts';

const USERS = '/api/relay/pro/user-limit-policies';
const KEYS = '/api/relay/api-key-limit-policies';
const RESOURCES = '/api/relay/limit-policies';
const REQUESTS = { metric: 'requests', period: 'month', enabled: true };
/** 60 a minute is one every second. */
const PACED = { period: 'minute', limit_value: 60 };
const PACE_MS_MIN = 250;
const RECORDED_MS_MAX = 20_000;

async function limit({ world: { walk }, owner }: Scene, path: string, body: object): Promise<void> {
  const sent = { body: { ...REQUESTS, ...body } };
  await walk.expect(owner, `POST ${path}`, path === RESOURCES ? '201' : '200', sent);
}

const limitKey = (scene: Scene, { id }: Pick<Key, 'id'>, body: object) =>
  limit(scene, KEYS, { api_key_uuid: id, target_type: 'global', ...body });

/** The statuses of requests that are sent one after the other. */
async function expectInTurn(
  scene: Scene,
  what: string,
  wanted: string,
  asks: readonly (readonly [model: string, caller?: Caller])[],
): Promise<void> {
  await scene.world.everywhere();
  const statuses: number[] = [];
  for (const [model, caller] of asks)
    statuses.push((await infer(scene, model, caller === undefined ? {} : { caller })).status);
  if (statuses.join() !== wanted) scene.world.walk.fault(`${what}: ${statuses.join()}, not ${wanted}`);
}

/** Requests that come together under a limit of a short window are spread over it. */
async function expectSpread(scene: Scene, model: string, caller?: Caller): Promise<void> {
  await scene.world.everywhere();
  const ask = () => infer(scene, model, caller === undefined ? {} : { caller });
  const answers = await Promise.all([ask(), ask()]);
  const waits = answers.map((answer) => Number(header(answer, names.waitMs)));
  const statuses = answers.map(({ status }) => status).join();
  if (statuses !== '200,200' || Math.max(...waits) < PACE_MS_MIN)
    scene.world.walk.fault(`paced requests: ${statuses} after ${waits.join()} ms`);
}

/** Limits of keys: tight, disabled, of money, of a short window. */
export async function checkKeyLimits(scene: Scene): Promise<void> {
  const keyWith = async (body: object): Promise<Key> => {
    const key = await newKey(scene, ['relay:request']);
    await limitKey(scene, key, body);
    return key;
  };
  const spend = { metric: 'spend' };
  const [spent, off, poor, rich, paced] = [
    await keyWith({ limit_value: 1 }),
    await keyWith({ limit_value: 0, enabled: false }),
    await keyWith({ ...spend, limit_value: 1 }),
    await keyWith({ ...spend, limit_value: 1_000_000 }),
    await keyWith(PACED),
  ];
  await expectInTurn(scene, 'a key limit of one, none, and of money', '200,429,200,429,200', [
    ['plain', spent.caller],
    ['plain', spent.caller],
    ['plain', off.caller],
    ['plain', poor.caller],
    ['plain', rich.caller],
  ]);
  const refused = await infer(scene, 'plain', { caller: spent.caller });
  const told = [refused.summary, header(refused, names.shouldRetry)].join();
  if (told !== '429 budget_exhausted,false' || Number(header(refused, names.retryAfter)) <= 60)
    scene.world.walk.fault(`a budget that is spent for the month answers ${told}`);
  await expectSpread(scene, 'plain', paced.caller);
}

/** A member's limit covers their browser and all of their keys, a key's limit that key alone; the tighter one rejects. */
export async function checkMemberLimits(scene: Scene): Promise<void> {
  const browser = async (): Promise<Caller> => {
    const member = await invite(scene.world, scene.owner);
    if (member === null) throw new Error('no member arrived');
    return member;
  };
  const workload = async () => {
    const member = await browser();
    const keyOf = () => newKey(scene, ['relay:request'], {}, member);
    return { member, first: await keyOf(), second: await keyOf() };
  };
  const [whole, single, both] = [await workload(), await workload(), await workload()];
  const limitMember = ({ userId }: Caller, limit_value: number) =>
    limit(scene, USERS, { user_uuid: userId, target_type: 'global', limit_value });
  await limitMember(whole.member, 2);
  await limitKey(scene, single.first, { limit_value: 1 });
  await limitMember(both.member, 3);
  await limitKey(scene, both.first, { limit_value: 1 });
  const by = (...callers: readonly Caller[]) => callers.map((caller) => ['plain', caller] as const);
  await expectInTurn(
    scene,
    'a member’s limit of two',
    '200,200,429,429',
    by(whole.first.caller, whole.member, whole.second.caller, whole.member),
  );
  await expectInTurn(
    scene,
    'a key’s limit of one',
    '200,429,200,200',
    by(single.first.caller, single.first.caller, single.second.caller, single.member),
  );
  const { first, second } = both;
  await expectInTurn(
    scene,
    'a key’s limit of one below the member’s of three',
    '200,429,200,200,429',
    by(first.caller, first.caller, second.caller, second.caller, second.caller),
  );
}

/** Limits of lanes and endpoints, which hosted deployments do not have. */
export async function checkResourceLimits(scene: Scene): Promise<void> {
  const { lanes, world } = scene;
  const on = (scope_type: 'lane' | 'endpoint', name: string, body: object) => {
    const { laneId, endpointIds = [] } = lanes[name] ?? {};
    return limit(scene, RESOURCES, {
      scope_type,
      scope_id: scope_type === 'lane' ? laneId : endpointIds[0],
      ...body,
    });
  };
  await on('lane', 'limited', { limit_value: 5 });
  await on('endpoint', 'limited', { limit_value: 1 });
  await on('lane', 'first endpoint off', { limit_value: 0, enabled: false });
  await on('endpoint', 'first at its limit', { limit_value: 0 });
  await on('lane', 'first provider off', PACED);
  await expectInTurn(scene, 'limits of lanes and endpoints', '200,429,200', [
    ['limited'],
    ['limited'],
    ['first endpoint off'],
  ]);
  const passedOver = await infer(scene, 'first at its limit');
  const second = lanes['first at its limit']?.endpointIds[1];
  if (header(passedOver, names.selectedEndpointId) !== second)
    world.walk.fault(`an endpoint at its limit is not passed over: ${passedOver.summary}`);
  await expectSpread(scene, 'first provider off');
}

/** A limit that is enabled again counts what its key used meanwhile. */
export async function checkLimitEnabledAgain(scene: Scene): Promise<void> {
  const { world, owner } = scene;
  const { walk } = world;
  const key = await newKey(scene, ['relay:request']);
  await limitKey(scene, key, { limit_value: 100 });
  const policies = itemsOf(await walk.send(owner, `GET ${KEYS}`));
  const policy = policies.find((each) => each['api_key_uuid'] === key.id);
  const set = (enabled: boolean) =>
    limitKey(scene, key, { limit_value: 100, enabled, limit_uuid: policy?.['limit_uuid'] });
  const ask = (): readonly [string, Caller] => ['plain', key.caller];
  await expectInTurn(scene, 'a limit of 100', '200,200', [ask(), ask()]);
  await set(false);
  await expectInTurn(scene, 'a disabled limit', '200,200,200', [ask(), ask(), ask()]);
  const recorded = async () =>
    itemsOf(await walk.send(owner, `GET /api/relay/requests?api_key_id=${key.id}`)).length === 5;
  if (!(await until(recorded, RECORDED_MS_MAX))) walk.fault('five requests are not recorded');
  await set(true);
  const usage = itemsOf(await walk.expect(owner, 'GET /api/relay/limits/usage?limit=1000', '200'));
  const used = usage.find((each) => each['policy_id'] === policy?.['id'])?.['used'];
  if (used !== 5) walk.fault(`a limit that is enabled again counts ${String(used)} of 5 requests`);
}
