import type { ConfigFile, GuardrailPreset } from '@relay/contract';
import type { GuardrailServiceName, GuardrailSim } from '@relay/provider-sim';
import type { Behaviour, Cell, Guard, Target } from './cell.ts';

/** What the file of all cells is made with. */
export interface ConfigInput {
  readonly providerUrl: string;
  readonly guardrails: GuardrailSim;
  readonly serviceKey: string;
  /** A port that nothing listens on. */
  readonly closedPort: number;
  readonly presets: readonly GuardrailPreset[];
}

export interface CellsConfig {
  readonly config: ConfigFile;
  readonly secrets: Readonly<Record<string, string>>;
}

export const UPSTREAM_MODEL = 'sim-multi';
const CONCURRENCY_MAX = 3;

const PRESETS: Readonly<Record<GuardrailServiceName, string>> = {
  openai: 'openai-moderation',
  azure: 'azure-content-safety',
  lakera: 'lakera-guard',
  mistral: 'mistral-moderation',
  llama: 'llama-guard',
};

const SERVICE_SECRET = 'env:SERVICE';

/** What the provider recognises the endpoint of a cell by. */
export const keyOf = (place: string) => `sk-${place}`;
export const secondOf = (place: string) => `${place}-second`;
export const guardrailSlug = (place: string, index: number) => `${place}-g${index}`;

/** Every cell in a place of its own: provider, endpoint, lane, limits and guardrails, in one file. */
export function configOf(cells: ReadonlyMap<string, Cell>, input: ConfigInput): CellsConfig {
  const sections = {
    providers: [] as NonNullable<ConfigFile['providers']>,
    credentials: [] as NonNullable<ConfigFile['credentials']>,
    endpoints: [] as NonNullable<ConfigFile['endpoints']>,
    lanes: [] as NonNullable<ConfigFile['lanes']>,
    memberships: [] as NonNullable<ConfigFile['memberships']>,
    limit_policies: [] as NonNullable<ConfigFile['limit_policies']>,
    guardrails: [] as NonNullable<ConfigFile['guardrails']>,
    guardrail_bindings: [] as NonNullable<ConfigFile['guardrail_bindings']>,
  };
  const secrets: Record<string, string> = {};
  for (const [place, cell] of cells) {
    sections.lanes.push({ name: place, default_max_wait_ms: 2_000 });
    for (const [index, name] of [place, ...(cell.fallback === true ? [secondOf(place)] : [])].entries()) {
      const ref = `env:${name.replaceAll('-', '_')}`;
      secrets[ref] = keyOf(name);
      sections.providers.push({ name, base_url: input.providerUrl });
      sections.credentials.push({ provider: name, name: 'key', secret_ref: ref });
      const limits = { max_concurrency: CONCURRENCY_MAX, pacing: false };
      sections.endpoints.push({
        name,
        provider: name,
        upstream_model: UPSTREAM_MODEL,
        route_kind: 'multi',
        ...limits,
      });
      sections.memberships.push({ lane: place, endpoint: name, manual_rank: index + 1 });
    }
    for (const [metric, limit_value] of [
      ['requests', 1_000],
      ['tokens', 10_000_000],
    ] as const) {
      sections.limit_policies.push({ scope_type: 'lane', scope: place, metric, period: 'day', limit_value });
    }
    for (const [index, guard] of cell.guards.entries()) {
      const slug = guardrailSlug(place, index);
      sections.guardrails.push(itemOf(slug, guard, input));
      sections.guardrail_bindings.push(...bindingsOf(slug, place, guard));
      if (guard.behaviour.startsWith('service ')) secrets[SERVICE_SECRET] = input.serviceKey;
    }
  }
  return { config: { version: 1, ...sections }, secrets };
}

function itemOf(
  slug: string,
  guard: Guard,
  input: ConfigInput,
): NonNullable<ConfigFile['guardrails']>[number] {
  return {
    name: slug,
    pre_dispatch_enabled: guard.stages.includes('pre_dispatch'),
    post_response_enabled: guard.stages.includes('post_response'),
    failure_mode: guard.mode,
    enabled: guard.off !== 'guardrail disabled',
    ...addressOf(slug, guard.behaviour, input),
    ...guard.more,
  };
}

function addressOf(slug: string, behaviour: Behaviour, input: ConfigInput) {
  if (behaviour === 'refused') return { base_url: `http://127.0.0.1:${input.closedPort}/check` };
  if (!behaviour.startsWith('service '))
    return { base_url: input.guardrails.urlOf(behaviour as Parameters<GuardrailSim['urlOf']>[0], slug) };
  const service = behaviour.slice('service '.length) as GuardrailServiceName;
  const preset = input.presets.find((each) => each.slug === PRESETS[service]);
  if (preset === undefined) throw new Error(`there is no preset ${PRESETS[service]}`);
  const { auth_mode, http_method, secret_header_name } = preset;
  const base_url = input.guardrails.serviceUrlOf(service);
  const shape = { preset_slug: preset.slug, http_method, auth_mode, secret_header_name };
  return { base_url, ...shape, secret_ref: SERVICE_SECRET };
}

/** What is bound to everything is bound when its turn comes, because it would concern every other cell. */
function bindingsOf(
  guardrail: string,
  place: string,
  { target, boundAlsoTo = [], off }: Guard,
): NonNullable<ConfigFile['guardrail_bindings']> {
  const elsewhere = off === 'bound elsewhere';
  const enabled = off !== 'binding disabled';
  const named = (each: Target) => {
    if (each === 'second endpoint') return { target_type: 'endpoint', target: secondOf(place) } as const;
    return { target_type: each, target: elsewhere ? ELSEWHERE : place } as const;
  };
  return [target, ...boundAlsoTo]
    .filter((each) => each !== 'global')
    .map((each) => ({ guardrail, enabled, ...named(each) }));
}

/** A lane that no cell uses. */
export const ELSEWHERE = 'elsewhere';
