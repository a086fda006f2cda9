import { limitMetrics } from '@relay/contract';
import { idOf, itemsOf, textAt } from '../answer.ts';
import { MODEL, type Scene } from './scene.ts';

const NAME = 'Fast & Cheap 2';
const LIMIT = { limit_value: 1_000_000_000, enabled: true };
const https = 'https://upstream.example.com/v1';

/** Slugs derive from names, a clash gets `-2`, and what was left out has its default. */
export async function checkDefaults({ world: { walk }, owner, lanes }: Scene): Promise<void> {
  const [provider_id] = lanes['plain']?.providerIds ?? [];
  const endpoint = { provider_id, upstream_model: 'named-model', route_kind: 'chat', enabled: false };
  const creations: readonly (readonly [path: string, body: object, defaults: object])[] = [
    ['providers', { base_url: https, auth_mode: 'none' }, {}],
    [
      'routing-lanes',
      { takes_over: true },
      { selection: 'soonest', hidden: false, default_max_wait_ms: 30_000, hold_ms: 2_000 },
    ],
    [
      'guardrails',
      { base_url: https },
      { failure_mode: 'fail_closed', enabled: false, has_credential: false },
    ],
    [
      'endpoints',
      endpoint,
      {
        pacing: true,
        max_concurrency: null,
        context_window: null,
        max_latency_ms: 600_000,
        credential_id: null,
      },
    ],
  ];
  for (const [path, body, defaults] of creations) {
    for (const slug of ['fast-cheap-2', 'fast-cheap-2-2']) {
      const made = await walk.expect(owner, `POST /api/relay/${path}`, '201', {
        body: { name: NAME, ...body },
      });
      if (textAt(made, 'slug') !== slug) walk.fault(`${made.line}: the slug is ${textAt(made, 'slug')}`);
      for (const [field, value] of Object.entries(defaults))
        if ((made.body as Record<string, unknown>)[field] !== value)
          walk.fault(`${made.line}: ${field} is not ${String(value)}: ${made.text}`);
    }
  }
}

/** A lane may take the name of a model over, and gives it back; a model may get the name of a lane, which keeps it. */
export async function checkNames({ world: { walk }, owner, lanes }: Scene): Promise<void> {
  const path = '/api/relay/routing-lanes';
  const shadow = { name: MODEL, shadows_model: true };
  await walk.expect(owner, `POST ${path}`, '409 name_taken', { body: { name: MODEL } });
  const one = `${path}/${idOf(await walk.expect(owner, `POST ${path}`, '201', { body: shadow }))}`;
  await walk.expect(owner, `DELETE ${one}`, '409 name_taken');
  await walk.expect(owner, `DELETE ${one}?takes_over=true`, '204');
  const [provider_id] = lanes['plain']?.providerIds ?? [];
  const later = { provider_id, name: 'Later', upstream_model: 'plain', route_kind: 'chat' };
  await walk.expect(owner, 'POST /api/relay/endpoints', '201', { body: later });
}

/** A field, the values that it takes, and a body for each. */
type Taken = readonly [path: string, values: readonly string[], bodyOf: (value: string) => object];

/** Every value that a document names is taken, and shown as it was sent. */
export async function checkValues(scene: Scene): Promise<void> {
  const { world, owner, lanes } = scene;
  const { walk, memberId } = world;
  const { laneId = '', endpointIds = [], providerIds = [] } = lanes['plain'] ?? {};
  const targets: Readonly<Record<string, string | undefined>> = {
    ...{ provider: providerIds[0], model: endpointIds[0], endpoint: endpointIds[0], lane: laneId },
  };
  const key = idOf(
    await walk.expect(owner, 'POST /api/org/api-keys', '201', {
      body: { user_uuid: memberId, name: 'Limited', scopes: ['relay:request'] },
    }),
  );
  const named = (auth_mode: string) => ({ name: `Takes ${auth_mode}`, base_url: https, auth_mode });
  const byHeader = (mode: string) => (mode === 'header_static' ? 'x-key' : null);
  const budgets = limitMetrics.filter((metric) => metric !== 'concurrency');
  const windows = budgets.flatMap((metric) => ['minute', 'day'].map((period) => ({ metric, period })));
  const subjects = [
    // Without accounts the member is the one who sends the other requests.
    ...(walk.mode.accounts ? [['/api/relay/pro/user-limit-policies', { user_uuid: memberId }] as const] : []),
    ['/api/relay/api-key-limit-policies', { api_key_uuid: key }],
  ] as const;
  const taken: readonly Taken[] = [
    [
      '/api/relay/providers',
      ['bearer_static', 'header_static', 'aws_sigv4', 'google_service_account', 'client_certificate', 'none'],
      (auth_mode) => ({
        ...named(auth_mode),
        auth_header_name: byHeader(auth_mode),
        aws_region: auth_mode === 'aws_sigv4' ? 'us-east-1' : null,
      }),
    ],
    [
      '/api/relay/guardrails',
      ['none', 'bearer_static', 'header_static'],
      (auth_mode) => ({
        ...named(auth_mode),
        secret_header_name: byHeader(auth_mode),
        ...(auth_mode === 'none' ? {} : { secret: walk.secrets.plant('the credential of a guardrail') }),
      }),
    ],
    ...(walk.mode.accounts
      ? [
          [
            '/api/org/invitations',
            ['owner', 'admin', 'developer', 'viewer', 'billing'],
            (role: string) => ({ email: `${role}@example.com`, role }),
          ] as const,
        ]
      : []),
    ...(walk.mode.hosted ? [] : resourceLimits(targets, lanes['disabled lane']?.laneId, windows)),
    ...subjects.flatMap(([path, subject]) => [
      [
        path,
        windows.map((window) => JSON.stringify(window)),
        limitOf({ ...subject, target_type: 'global' }),
      ] as const,
      [
        path,
        ['provider', 'model', 'lane'],
        (target_type: string) => ({
          ...{ ...subject, target_type, target_id: targets[target_type] },
          ...{ ...LIMIT, metric: 'tokens', period: 'month' },
        }),
      ] as const,
    ]),
  ];
  for (const [path, values, bodyOf] of taken) {
    for (const value of values) {
      const body = bodyOf(value);
      const line = `POST ${path}`;
      const answer = await walk.send(owner, line, { body });
      const isUpsert = subjects.some(([each]) => each === path);
      if (answer.summary !== (isUpsert ? '200' : '201'))
        walk.fault(`${line} with ${value} is ${answer.text}`);
    }
  }
  await compareCounts(scene);
}

const limitOf = (fields: object) => (window: string) => ({
  ...fields,
  ...LIMIT,
  ...(JSON.parse(window) as object),
});

function resourceLimits(
  targets: Readonly<Record<string, string | undefined>>,
  spareLaneId: string | undefined,
  windows: readonly object[],
): readonly Taken[] {
  const periods = ['second', 'hour', 'week', 'month'].map((period) => ({ metric: 'requests', period }));
  return [
    [
      '/api/relay/limit-policies',
      [...windows, ...periods].map((window) => JSON.stringify(window)),
      limitOf({ scope_type: 'lane', scope_id: spareLaneId }),
    ],
    [
      '/api/relay/limit-policies',
      ['provider', 'endpoint', 'lane'],
      (scope_type) => ({
        ...{ scope_type, scope_id: targets[scope_type] },
        ...{ ...LIMIT, metric: 'tokens', period: 'month' },
      }),
    ],
  ];
}

/** The summary counts what the lists have. */
async function compareCounts({ world: { walk }, owner }: Scene): Promise<void> {
  const summary = await walk.expect(owner, 'GET /api/relay/stats/summary', '200');
  const lists = { providers: 'providers', endpoints: 'endpoints', lanes: 'routing-lanes' };
  for (const [field, path] of Object.entries(lists)) {
    const { length } = itemsOf(await walk.expect(owner, `GET /api/relay/${path}`, '200'));
    const count = (summary.body as Record<string, unknown>)[field];
    if (count !== length) walk.fault(`the summary counts ${String(count)} ${field} of ${length}`);
  }
}
