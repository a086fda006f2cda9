import type { ConfigProvider } from '@relay/contract';
import {
  azureClassic,
  type KnownProvider,
  knownProviders,
  providerOfModel,
  unsupportedProviders,
} from './known-providers.ts';
import { limitDeployment } from './read-budgets.ts';
import { readPrice } from './read-prices.ts';
import type { Resources } from './resources.ts';
import { type Source, variableIn } from './source.ts';

/** An endpoint from one entry of `model_list`. */
export interface Deployment {
  readonly group: string;
  readonly endpoint: string;
  readonly order: number;
  readonly weight: number;
}

export interface Defaults {
  readonly timeoutSeconds: number | undefined;
  readonly concurrency: number | undefined;
}

const LATENCY_MS_MAX = 3_600_000;
const NO_ORDER = Number.MAX_SAFE_INTEGER;
const ROUTE_KINDS = { embedding: 'embeddings', chat: 'multi', responses: 'multi' } as const;

/** Every entry of `model_list`; unsupported ones are reported and left out. */
export function readDeployments(source: Source, resources: Resources, defaults: Defaults): Deployment[] {
  const secrets = inlineSecrets();
  const deployments: Deployment[] = [];
  for (let index = 0; index < source.length('model_list'); index += 1) {
    const deployment = readDeployment(source, resources, defaults, secrets, `model_list[${index}]`);
    if (deployment !== null) deployments.push(deployment);
  }
  return deployments;
}

function readDeployment(
  source: Source,
  resources: Resources,
  defaults: Defaults,
  secrets: InlineSecrets,
  at: string,
): Deployment | null {
  const refuse = (path: string, reason: string) => {
    source.remark('not_imported', path, reason);
    return null;
  };
  const params = `${at}.litellm_params`;
  const group = source.look(`${at}.model_name`);
  const model = source.look(`${params}.model`);
  if (typeof group !== 'string' || typeof model !== 'string')
    return refuse(at, 'It has no model_name, or no litellm_params.model.');
  if (`${group}${model}`.includes('*'))
    return refuse(at, 'Relay has no wildcards: list the models one by one.');
  const mode = source.look(`${at}.model_info.mode`) ?? 'chat';
  const routeKind = ROUTE_KINDS[String(mode) as keyof typeof ROUTE_KINDS];
  if (routeKind === undefined)
    return refuse(
      at,
      `Relay serves chat completions, responses, messages and embeddings, not mode ${String(mode)}.`,
    );
  source.take(`${at}.model_name`);
  source.take(`${at}.model_info.mode`);
  const upstream = readUpstream(source, at);
  if (upstream === null) return null;
  const { kind, known, baseUrl, apiVersion, upstreamModel } = upstream;
  const reference = keyReference(source, secrets, at, known);
  const provider = resources.provider(kind, {
    name: known.name,
    base_url: baseUrl,
    ...(known.preset === undefined ? {} : { preset_slug: known.preset }),
    ...(apiVersion === undefined ? {} : { extra_query: { 'api-version': apiVersion } }),
    ...authOf(known, reference !== null),
  });
  const timeoutSeconds = source.takeNumber(`${params}.timeout`) ?? defaults.timeoutSeconds;
  const concurrency = source.takeNumber(`${params}.max_parallel_requests`) ?? defaults.concurrency;
  const contextWindow = source.takeNumber(`${at}.model_info.max_input_tokens`);
  const endpoint = resources.endpoint({
    provider,
    ...(reference === null ? {} : { credential: resources.credential(provider, reference) }),
    name: group,
    upstream_model: upstreamModel,
    route_kind: routeKind,
    ...(concurrency ? { max_concurrency: Math.max(1, Math.floor(concurrency)) } : {}),
    ...(contextWindow ? { context_window: Math.floor(contextWindow) } : {}),
    ...(timeoutSeconds
      ? { max_latency_ms: Math.min(LATENCY_MS_MAX, Math.ceil(timeoutSeconds * 1_000)) }
      : {}),
  });
  readPrice(source, resources, at, endpoint, routeKind === 'embeddings');
  limitDeployment(source, resources, at, endpoint);
  const order = source.takeNumber(`${params}.order`) ?? NO_ORDER;
  const weight = source.takeNumber(`${params}.weight`) ?? 0;
  if (weight > 0)
    source.remark(
      'changed',
      `${params}.weight`,
      'Weights become ranks: the endpoint with the highest weight ranks first.',
    );
  return { group, endpoint, order, weight };
}

interface Upstream {
  readonly kind: string;
  readonly known: KnownProvider;
  readonly baseUrl: string;
  /** For the query of every request. */
  readonly apiVersion: string | undefined;
  readonly upstreamModel: string;
}

/** The provider of an entry by prefix, and its URL by `api_base` or default. */
function readUpstream(source: Source, at: string): Upstream | null {
  const params = `${at}.litellm_params`;
  const refuse = (reason: string) => {
    source.remark('not_imported', at, reason);
    return null;
  };
  const model = source.takeText(`${params}.model`);
  const custom = source.takeText(`${params}.custom_llm_provider`);
  const apiBase =
    source.takeText(paramPath(source, at, 'api_base')) ?? source.takeText(paramPath(source, at, 'base_url'));
  if (model === undefined) return refuse('Its model is unknown.');
  const [prefix = '', ...rest] = model.split('/');
  const isPrefixed = rest.length > 0 && (custom === undefined || custom === prefix);
  const kind =
    custom ?? (isPrefixed ? prefix : (providerOfModel(model) ?? (apiBase === undefined ? '' : 'openai')));
  const unsupported = unsupportedProviders[kind];
  if (unsupported !== undefined) return refuse(`The import doesn’t support ${kind}. ${unsupported}`);
  const apiVersion = versionOf(kind, source.takeText(paramPath(source, at, 'api_version')));
  const known = knownAs(kind, apiVersion, apiBase);
  const address = apiBase === undefined ? known.baseUrl : addressOf(apiBase, known);
  if (address === null || kind === '')
    return refuse(
      kind === ''
        ? 'Its provider is unknown: put it before the model, as in openai/…, or add api_base.'
        : `The base URL of ${kind} is unknown: add api_base.`,
    );
  if (knownProviders[kind] === undefined)
    source.remark('changed', `${params}.model`, `Relay treats ${kind} as OpenAI-compatible.`);
  else if (known.remark !== undefined) source.remark('changed', `${params}.model`, known.remark);
  return { kind, known, baseUrl: address, apiVersion, upstreamModel: isPrefixed ? rest.join('/') : model };
}

/** `v1` is what LiteLLM calls Azure's interface that needs no version. */
function versionOf(kind: string, given: string | undefined): string | undefined {
  return kind === 'azure' && given === 'v1' ? undefined : given;
}

/** At Azure, a version that is a date belongs to the interface before v1, unless the address says otherwise. */
function knownAs(kind: string, apiVersion: string | undefined, apiBase: string | undefined): KnownProvider {
  const isDated = /^\d{4}-\d{2}-\d{2}/.test(apiVersion ?? '');
  if (kind === 'azure' && isDated && !/\/openai\/v1\/*$/.test(apiBase ?? '')) return azureClassic;
  return knownProviders[kind] ?? { name: kind, baseUrl: null, keyVariable: null };
}

/** The path of a parameter: in the entry or in the credential it refers to. */
function paramPath(source: Source, at: string, name: string): string {
  const own = `${at}.litellm_params.${name}`;
  if (source.look(own) !== undefined) return own;
  const wanted = source.take(`${at}.litellm_params.litellm_credential_name`);
  if (wanted === undefined) return own;
  for (let index = 0; index < source.length('credential_list'); index += 1) {
    const credential = `credential_list[${index}]`;
    if (source.look(`${credential}.credential_name`) !== wanted) continue;
    source.take(`${credential}.credential_name`);
    return `${credential}.credential_values.${name}`;
  }
  return own;
}

function addressOf(apiBase: string, known: KnownProvider): string | null {
  if (!URL.canParse(apiBase)) return null;
  const { path = '' } = known;
  // LiteLLM appends the rest of the path, whatever the address has before it.
  if (known === azureClassic)
    return apiBase.replace(/\/+$/, '').replace(/\/openai(\/deployments\/.*)?$/, '') + path;
  const trimmed = apiBase.replace(/\/+$/, '').replace(/\/(chat\/completions|embeddings|responses)$/, '');
  return new URL(trimmed).pathname === '/' ? trimmed.replace(/\/+$/, '') + path : trimmed;
}

function authOf({ header }: KnownProvider, hasKey: boolean): Partial<ConfigProvider> {
  if (!hasKey) return { auth_mode: 'none' };
  if (header !== undefined) return { auth_mode: 'header_static', auth_header_name: header };
  return { auth_mode: 'bearer_static' };
}

interface InlineSecrets {
  variableFor(secret: string, kind: string): string;
}

/** Equal secrets share a variable. Secrets themselves are never copied. */
function inlineSecrets(): InlineSecrets {
  const variables = new Map<string, string>();
  return {
    variableFor(secret, name) {
      const stem = `RELAY_SECRET_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
      const taken = [...variables.values()].filter((each) => each.replace(/_\d+$/, '') === stem).length;
      const known = variables.get(`${stem} ${secret}`) ?? (taken === 0 ? stem : `${stem}_${taken + 1}`);
      variables.set(`${stem} ${secret}`, known);
      return known;
    },
  };
}

/** The reference to the key; null without a key. */
function keyReference(
  source: Source,
  secrets: InlineSecrets,
  at: string,
  known: KnownProvider,
): string | null {
  const path = paramPath(source, at, 'api_key');
  const given = source.take(path);
  if (given === undefined) {
    if (known.keyVariable === null) return null;
    const reason = `It has no api_key; the file refers to ${known.keyVariable}, which LiteLLM also reads.`;
    source.remark('changed', `${at}.litellm_params.model`, reason);
    return `env:${known.keyVariable}`;
  }
  const variable = variableIn(given);
  if (variable !== undefined) return `env:${variable}`;
  const own = secrets.variableFor(String(given), known.name);
  source.remark('changed', path, `Relay never writes secrets to the file. Set ${own} where you apply it.`);
  return `env:${own}`;
}
