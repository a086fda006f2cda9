import { headers as names } from '@relay/contract';
import { specManagementRoutes, specRules } from '@relay/contract/specification';
import { ask, eventually, header } from './asks.ts';
import { tryRoute } from './calls.ts';
import { at } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { answerOf } from './from-headers.ts';
import { PRICES } from './lanes.ts';
import { everywhere, onlyHosted, selfHosted, withMembers } from './mode.ts';
import { type Key, memberOf, newKey, type Person } from './people.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

const USER_LIMITS = '/api/relay/pro/user-limit-policies';
const KEY_LIMITS = '/api/relay/api-key-limit-policies';
const SHARED_LIMITS = '/api/relay/limit-policies';
const REQUESTS = { target_type: 'global', metric: 'requests', period: 'month', enabled: true };

const limit = async (site: Site, path: string, body: object): Promise<void> =>
  expectStatus(await site.call('POST', path, { body }), 200, 201);

/** Limits a key, and waits until inference knows. */
async function limitKey(site: Site, key: Key, limitValue: number, more: object = {}): Promise<void> {
  await limit(site, KEY_LIMITS, { ...REQUESTS, ...more, api_key_uuid: key.id, limit_value: limitValue });
  await known(site);
}

/** A change is in force once a later one is: a new key that may send nothing. */
async function known(site: Site): Promise<void> {
  const probe = await newKey(site, ['relay:request']);
  await limit(site, KEY_LIMITS, { ...REQUESTS, api_key_uuid: probe.id, limit_value: 0 });
  await eventually(
    async () => (await ask(site, 'plain', { key: probe.secret })).status === 429,
    'a limit of nothing to refuse',
  );
}

async function statusesOf(requests: readonly (() => ReturnType<typeof ask>)[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await request()).status);
  return statuses;
}

const times = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one);

interface Workload {
  readonly member: Person;
  readonly first: Key;
  readonly second: Key;
}

async function newWorkload(site: Site): Promise<Workload> {
  const member = await memberOf(site, 'developer');
  const scopes = ['relay:request'];
  return { member, first: await newKey(member, scopes), second: await newKey(member, scopes) };
}

const tightest: readonly Statement[] = [
  rule(
    '8.1',
    'a key limit below the user limit wins, and the user limit where it is the tighter',
    async (site) => {
      const { member, first, second } = await newWorkload(site);
      await limit(site, USER_LIMITS, { ...REQUESTS, user_uuid: member.userId, limit_value: 3 });
      await limitKey(site, first, 1);
      const by =
        ({ secret }: Key) =>
        () =>
          ask(site, 'plain', { key: secret });
      const statuses = await statusesOf([...times(2, by(first)), ...times(3, by(second))]);
      expectEqual(statuses, [200, 429, 200, 200, 429], 'the statuses');
    },
    withMembers,
  ),
  rule(
    '8.1',
    'of two resource limits the tighter wins',
    async (site) => {
      const { laneId, endpointIds } = site.lanes.limited;
      const limits = [
        ['lane', laneId, 5],
        ['endpoint', endpointIds[0], 1],
      ] as const;
      for (const [scope_type, scope_id, limit_value] of limits) {
        const body = {
          scope_type,
          scope_id,
          metric: 'requests',
          period: 'month',
          limit_value,
          enabled: true,
        };
        await limit(site, SHARED_LIMITS, body);
      }
      const asking = () => ask(site, 'limited');
      expectEqual(await statusesOf(times(2, asking)), [200, 429], 'the statuses');
    },
    selfHosted,
  ),
];

const sharedLimit = (scope_type: string, scope_id: string | undefined, more: object) => ({
  scope_type,
  scope_id,
  metric: 'requests',
  period: 'month',
  enabled: true,
  ...more,
});

const enforcement: readonly Statement[] = [
  rule(
    '1.3',
    'a candidate at its limit is passed over',
    async (site) => {
      const lane = 'first at its limit';
      const [first, second] = site.lanes[lane].endpointIds;
      await limit(site, SHARED_LIMITS, sharedLimit('endpoint', first, { limit_value: 0 }));
      const answer = await ask(site, lane);
      expectStatus(answer, 200);
      expectEqual(header(answer, names.selectedEndpointId), second, 'the endpoint');
    },
    selfHosted,
  ),
  rule(
    '8.4',
    'a resource policy that is not enabled limits nothing',
    async (site) => {
      const { laneId } = site.lanes['first endpoint off'];
      await limit(site, SHARED_LIMITS, sharedLimit('lane', laneId, { limit_value: 0, enabled: false }));
      expectStatus(await ask(site, 'first endpoint off'), 200);
    },
    selfHosted,
  ),
  rule(
    '8.4',
    'a budget that is not enabled limits nothing',
    async (site) => {
      const key = await newKey(site, ['relay:request']);
      await limitKey(site, key, 0, { enabled: false });
      expectStatus(await ask(site, 'plain', { key: key.secret }), 200);
    },
    everywhere,
  ),
  rule(
    '8.3',
    'a spend budget below the configured price of a request refuses it',
    async (site) => {
      const key = await newKey(site, ['relay:request']);
      await limitKey(site, key, 1, { metric: 'spend' });
      expectStatus(await ask(site, 'plain', { key: key.secret }), 429);
    },
    everywhere,
  ),
  rule(
    '8.3',
    'a spend budget above the configured price of a request serves it',
    async (site) => {
      const key = await newKey(site, ['relay:request']);
      await limitKey(site, key, 1_000_000, { metric: 'spend' });
      expectStatus(await ask(site, 'plain', { key: key.secret }), 200);
    },
    everywhere,
  ),
];

/** Long enough for the second request to come while the first is held, also on a busy machine. */
const SLOW_MS = 1_500;

const waits: readonly Statement[] = [
  rule('8.2', 'a request that capacity comes in time for is served', async (site) => {
    const asked = times(2, () => ask(site, 'narrow', { fault: { delayMs: 200 } })).map((one) => one());
    for (const answer of await Promise.all(asked)) expectStatus(answer, 200);
  }),
  rule('8.2', 'a request that no candidate fits within the wait budget answers 429', async (site) => {
    const lane = 'narrow without patience';
    const tag = 'holds the only place';
    const held = ask(site, lane, { fault: { delayMs: SLOW_MS, tag } });
    await site.provider.waitFor(({ fault }) => fault?.tag === tag);
    expectStatus(await ask(site, lane), 429);
    expectStatus(await held, 200);
  }),
];

const MILLION = 1_000_000;

const pricing = ['/chat/completions', '/responses', '/embeddings'].map((path) =>
  rule('8.3', `the cost of POST ${path} is that of the configured prices`, async (site) => {
    const answer = await answerOf(site, { path, streaming: false });
    const tokens = (name: string) => Number(header(answer, name));
    const exact =
      (tokens(names.actualInputTokens) * PRICES.input_cost_micros_per_1m_tokens +
        tokens(names.actualOutputTokens) * PRICES.output_cost_micros_per_1m_tokens) /
      MILLION;
    expectEqual(header(answer, names.actualCostMicros), String(Math.round(exact)), 'the cost');
  }),
);

/** 60 a minute is one every second. */
const PACED = 60;
const PACE_MS_MIN = 250;

async function expectSpread(requests: readonly (() => ReturnType<typeof ask>)[]): Promise<void> {
  const answers = await Promise.all(requests.map((request) => request()));
  for (const answer of answers) expectStatus(answer, 200);
  const waits = answers.map((answer) => Number(header(answer, names.waitMs)));
  expect(Math.max(...waits) >= PACE_MS_MIN, `one of them to wait at least ${PACE_MS_MIN} ms`, waits);
}

const pacing: readonly Statement[] = [
  rule(
    '8.3',
    'requests under a short-window key limit are spread',
    async (site) => {
      const key = await newKey(site, ['relay:request']);
      await limitKey(site, key, PACED, { period: 'minute' });
      await expectSpread(times(2, () => ask(site, 'plain', { key: key.secret })));
    },
    everywhere,
  ),
  rule(
    '8.3',
    'requests under a short-window resource limit are spread',
    async (site) => {
      const { laneId } = site.lanes['first provider off'];
      const scope = { scope_type: 'lane', scope_id: laneId };
      await limit(site, SHARED_LIMITS, {
        ...scope,
        metric: 'requests',
        period: 'minute',
        limit_value: PACED,
        enabled: true,
      });
      await expectSpread(times(2, () => ask(site, 'first provider off')));
    },
    selfHosted,
  ),
];

/** The values that rule 4 names after these words. */
function inUse(what: 'Metric' | 'Period'): readonly string[] {
  const list = new RegExp(`${what} values in use: ([^.]*).`).exec(specRules['8.4'])?.[1] ?? '';
  return list.split(', ').map((value) => value.replace('and ', '').replaceAll('`', ''));
}

const LARGE = 1_000_000_000;

/** Whom the limits of these statements are for: no request is sent as them. */
const subjectOf = (site: Site) => site.once('subject of limits', () => newWorkload(site));

const values = inUse('Metric').flatMap((metric) =>
  inUse('Period').flatMap((period) => {
    const fields = { metric, period, limit_value: LARGE, enabled: true };
    return [
      rule(
        '8.4',
        `a resource policy takes metric ${metric} with period ${period}`,
        async (site) => {
          const scope = { scope_type: 'lane', scope_id: site.lanes['switched off'].laneId };
          const answer = await site.call('POST', SHARED_LIMITS, { body: { ...scope, ...fields } });
          expectStatus(answer, 201);
          expectEqual([at(answer.body, 'metric'), at(answer.body, 'period')], [metric, period], 'the policy');
        },
        selfHosted,
      ),
      rule(
        '8.4',
        `a user budget takes metric ${metric} with period ${period}`,
        async (site) => {
          const { member } = await subjectOf(site);
          const body = { user_uuid: member.userId, target_type: 'global', ...fields };
          expectStatus(await site.call('POST', USER_LIMITS, { body }), 200);
        },
        withMembers,
      ),
      rule(
        '8.4',
        `an API-key budget takes metric ${metric} with period ${period}`,
        async (site) => {
          const { first } = await subjectOf(site);
          const body = { api_key_uuid: first.id, target_type: 'global', ...fields };
          expectStatus(await site.call('POST', KEY_LIMITS, { body }), 200);
        },
        withMembers,
      ),
    ];
  }),
);

const targets = (
  [
    ['provider', ({ lanes }: Site) => lanes.plain.providerIds[0]],
    ['model', ({ lanes }: Site) => lanes.plain.endpointIds[0]],
  ] as const
).flatMap(([target_type, idOf]) =>
  [USER_LIMITS, KEY_LIMITS].map((path) =>
    rule(
      '8.4',
      `POST ${path} takes a ${target_type} as its target`,
      async (site) => {
        const { member, second } = await subjectOf(site);
        const subject = path === KEY_LIMITS ? { api_key_uuid: second.id } : { user_uuid: member.userId };
        const target = { target_type, target_id: idOf(site) };
        const body = { ...REQUESTS, ...subject, ...target, limit_value: LARGE };
        expectStatus(await site.call('POST', path, { body }), 200);
      },
      withMembers,
    ),
  ),
);

/** A user budget of two requests, spent by key and by browser; a key budget of one. */
function spending(site: Site) {
  return site.once('spending', async () => {
    const [whole, single] = [await newWorkload(site), await newWorkload(site)];
    await limit(site, USER_LIMITS, { ...REQUESTS, user_uuid: whole.member.userId, limit_value: 2 });
    await limitKey(site, single.first, 1);
    const byKey = ({ secret }: Key) => ask(site, 'plain', { key: secret });
    const byBrowser = ({ member }: Workload) => ask(site, 'plain', { by: member });
    return {
      user: await statusesOf([
        () => byKey(whole.first),
        () => byBrowser(whole),
        () => byKey(whole.second),
        () => byBrowser(whole),
      ]),
      key: await statusesOf([
        () => byKey(single.first),
        () => byKey(single.first),
        () => byKey(single.second),
        () => byBrowser(single),
      ]),
    };
  });
}

const reach: readonly Statement[] = (
  [
    ['a user budget covers browser and key traffic: two requests spend it', 'user', [0, 1], [200, 200]],
    ['a spent user budget refuses another key of the user', 'user', [2], [429]],
    ['a spent user budget refuses the user’s browser', 'user', [3], [429]],
    ['an API-key budget covers its key', 'key', [0, 1], [200, 429]],
    ['an API-key budget does not cover another key of the same user', 'key', [2], [200]],
    ['an API-key budget does not cover the user’s browser', 'key', [3], [200]],
  ] as const
).map(([says, subject, places, statuses]) =>
  rule(
    '8.5',
    says,
    async (site) => {
      const found = (await spending(site))[subject];
      expectEqual(
        places.map((place) => found[place]),
        statuses,
        `the statuses at ${places.join()} of ${found.join()}`,
      );
    },
    withMembers,
  ),
);

const hostedUse = specManagementRoutes
  .filter(({ path }) => path.startsWith(SHARED_LIMITS))
  .map((route) =>
    rule(
      '8.6',
      `${route.line} of a hosted deployment answers 403`,
      async (site) => expectStatus(await tryRoute(site, route, {}), 403),
      onlyHosted,
    ),
  );

export const section8: readonly Statement[] = [
  ...tightest,
  ...enforcement,
  ...waits,
  ...pricing,
  ...pacing,
  ...values,
  ...targets,
  ...reach,
  ...hostedUse,
];
