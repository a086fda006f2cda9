import { type GuardrailBehaviourName, startGuardrailSim } from '@relay/provider-sim';
import { createLane, type EndpointSetup, type LaneIds } from '../../harness/admin-client.ts';
import { type Answer, type Caller, itemsOf, textAt } from '../answer.ts';
import type { World } from '../world.ts';

/** Micro-USD for a million tokens. */
export const PRICES = {
  input_cost_micros_per_1m_tokens: 1_000_000,
  output_cost_micros_per_1m_tokens: 4_000_000,
};
export const MODEL = 'sim-multi';
export const CREDENTIAL = 'sk-upstream';
export const WORDS = 'Say hello to the walker.';
/** A good body of each operation that the specification names, without its model. */
export const contents: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: WORDS }] },
  '/v1/responses': { input: WORDS },
  '/v1/embeddings': { input: WORDS },
};
export const operations: readonly string[] = Object.keys(contents);
export const [CHAT = '', RESPONSES = '', EMBEDDINGS = ''] = operations;

/** A lane for each situation; its name is what requests call as `model`. */
export type Lanes = Readonly<Record<string, LaneIds>>;

/** What the rules of inference are tried on, beside the world of the walk. */
export interface Scene {
  readonly world: World;
  readonly owner: Caller;
  readonly lanes: Lanes;
  /** How often a guardrail was asked. */
  guarded(): number;
  close(): Promise<void>;
}

export async function startScene(world: World, owner: Caller): Promise<Scene> {
  const guardrails = await startGuardrailSim();
  const lanes = await addLanes(world, owner);
  const { walk } = world;
  const send = (line: string, body: object) => walk.send(owner, line, { body });
  await send('POST /api/relay/pricing-policies', { endpoint_id: lanes['plain']?.endpointIds[0], ...PRICES });
  const behaviours = { guarded: 'allow', 'guard fails': 'status-500', 'guard blocks': 'block' } as const;
  for (const [lane, behaviour] of Object.entries(behaviours))
    await bind(lane, behaviour satisfies GuardrailBehaviourName);
  await switchOff();
  await world.everywhere();
  return {
    world,
    owner,
    lanes,
    guarded: () => guardrails.log.length,
    close: () => guardrails.close(),
  };

  async function bind(lane: string, behaviour: GuardrailBehaviourName): Promise<void> {
    const made = await send('POST /api/relay/guardrails', {
      ...{ name: `Guards ${behaviour}`, preset_slug: 'custom-http', http_method: 'POST' },
      ...{ base_url: guardrails.urlOf(behaviour), auth_mode: 'none', pre_dispatch_enabled: true },
    });
    const line = `PUT /api/relay/guardrails/${textAt(made, 'id')}`;
    await send(line, { enabled: true });
    const bindings = [{ target_type: 'lane', target_id: lanes[lane]?.laneId }];
    await send(`${line}/bindings`, { bindings });
    const { body } = await walk.expect(owner, line.replace('PUT', 'GET'), '200');
    const { guardrail, bindings: bound } = body as {
      guardrail: { binding_count: number };
      bindings: object[];
    };
    if (guardrail.binding_count !== 1 || bound.length !== 1)
      walk.fault(`one binding is counted as ${guardrail.binding_count}, of ${bound.length}`);
  }

  /** A provider without a usable credential, and firsts that are disabled in each way. */
  async function switchOff(): Promise<void> {
    const find = async (path: string, fields: object): Promise<string> => {
      const found = itemsOf(await walk.send(owner, `GET ${path}`)).find((each) =>
        Object.entries(fields).every(([name, value]) => each[name] === value),
      );
      return `${path}/${String(found?.['id'])}`;
    };
    const [provider_id] = lanes['unprepared']?.providerIds ?? [];
    await walk.send(owner, `DELETE ${await find('/api/relay/credentials', { provider_id })}`);
    const { laneId: lane_id, endpointIds = [] } = lanes['first membership off'] ?? {};
    const membership = { lane_id, endpoint_id: endpointIds[0] };
    const line = `PUT ${await find('/api/relay/lane-memberships', membership)}`;
    await send(line, { manual_rank: 1, enabled: false });
    await send(`PUT /api/relay/providers/${lanes['first provider off']?.providerIds[0]}`, { enabled: false });
  }
}

async function addLanes({ walk, deployment }: World, owner: Caller): Promise<Lanes> {
  const create = async (path: string, body: unknown) => {
    const made = await walk.expect(owner, `POST ${path}`, '201', { body });
    return made.body as Record<string, unknown> & { id: string };
  };
  const call = (method: string, path: string, body: unknown) =>
    walk.send(owner, `${method} ${path}`, { body });
  const good: EndpointSetup = {
    baseUrl: deployment.provider.baseUrl,
    upstreamModel: MODEL,
    secret: CREDENTIAL,
  };
  const dead: EndpointSetup = { ...good, baseUrl: 'http://127.0.0.1:1/v1' };
  const but = (endpoint: object): EndpointSetup => ({ ...good, endpoint: { ...endpoint } });
  const impatient = { default_max_wait_ms: 0 };
  const setups: Readonly<Record<string, readonly [readonly EndpointSetup[], Record<string, unknown>?]>> = {
    plain: [[good]],
    'falls back': [[dead, good]],
    stays: [[dead, good], { allow_fallback: false }],
    throttled: [[good], impatient],
    guarded: [[good]],
    'guard fails': [[good]],
    'guard blocks': [[good]],
    unprepared: [[good]],
    unreachable: [[dead]],
    'disabled lane': [[good], { enabled: false }],
    'empty lane': [[]],
    'disabled endpoint': [[but({ enabled: false })]],
    'chat only': [[but({ route_kind: 'chat' })]],
    'no streams': [[but({ supports_streaming: false })]],
    'first endpoint off': [[but({ enabled: false }), good]],
    'first membership off': [[good, good]],
    'first provider off': [[good, good]],
    'first at its limit': [[good, good]],
    limited: [[good], impatient],
  };
  const lanes: Record<string, LaneIds> = {};
  for (const [name, [endpoints, lane = {}]] of Object.entries(setups))
    lanes[name] = await createLane({ call, create }, { name, endpoints, lane });
  return lanes;
}

/** One request of an operation, by default on its good content; `model` is a lane or any other name. */
export function infer(
  { world: { walk, client } }: Pick<Scene, 'world'>,
  model: string,
  {
    path = CHAT,
    caller = client,
    body = {},
    headers = {},
  }: {
    readonly path?: string;
    readonly caller?: Caller;
    readonly body?: object;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Answer> {
  return walk.send(caller, `POST ${path}`, { body: { model, ...contents[path], ...body }, headers });
}

export const header = ({ headers }: Answer, name: string): string => headers.get(name) ?? '';
