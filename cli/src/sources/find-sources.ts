import type { Surroundings } from '../kit/surroundings.ts';
import { isObject } from '../kit/values.ts';

/** A provider that this machine can call. */
export interface Source {
  /** The provider's preset, which says how the credential is sent. */
  readonly slug: string;
  readonly name: string;
  /** How it was found. */
  readonly seen: string;
  readonly baseUrl: string;
  readonly secret: string | null;
  /** The models to begin with, best first. */
  choose(models: readonly string[]): readonly string[];
}

/** What is needed of a provider's preset. */
export interface SourcePreset {
  readonly slug: string;
  readonly name: string;
  readonly base_url: string;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The environment variable in which each provider's own tools expect its key. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  'google-gemini': 'GEMINI_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  groq: 'GROQ_API_KEY',
  together: 'TOGETHER_API_KEY',
  fireworks: 'FIREWORKS_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
  xai: 'XAI_API_KEY',
  cerebras: 'CEREBRAS_API_KEY',
  cohere: 'COHERE_API_KEY',
};
/** Variables with which tools send requests elsewhere: the key then belongs to that address. */
const ADDRESS_VARIABLES: readonly ((name: string) => string)[] = [
  (name) => `${name}_BASE_URL`,
  (name) => `${name}_API_BASE`,
  (name) => `GOOGLE_${name}_BASE_URL`,
];
/** Servers that are looked for where their presets say. */
const LOCAL: readonly string[] = ['vllm', 'lm-studio'];
const OLLAMA = { host: '127.0.0.1', port: 11_434 };
const PROBE_MS_MAX = 500;
const MODELS_MAX = 3;
const NOT_CHAT = /audio|image|realtime|transcribe|tts|search|instruct|codex/;

/** Keys in the environment, and model servers on this machine. */
export async function findSources(
  { env }: Pick<Surroundings, 'env'>,
  presets: readonly SourcePreset[],
  ask: Fetch = fetch,
): Promise<Source[]> {
  const found = await Promise.all(
    presets.map(async (preset): Promise<Source | null> => {
      const { slug, name, base_url } = preset;
      const choose = chooserOf(slug);
      const key = keyInEnvironment(env, preset);
      if (key !== null)
        return { slug, name, seen: key.variable, baseUrl: base_url, secret: key.secret, choose };
      const url = await localUrl(env, preset, ask);
      if (url === null) return null;
      return { slug, name, seen: `${name} at ${url.host}`, baseUrl: url.href, secret: null, choose };
    }),
  );
  return found.filter((source) => source !== null);
}

/** The provider's key in its usual variable; null without one. */
export function keyInEnvironment(
  env: Surroundings['env'],
  { slug, base_url }: SourcePreset,
): { readonly variable: string; readonly secret: string } | null {
  const variable = KEY_VARIABLES[slug];
  if (variable === undefined) return null;
  const host = URL.parse(base_url)?.hostname ?? '';
  const name = variable.replace(/_API_KEY$/, '');
  const addresses = ADDRESS_VARIABLES.map((of) => env[of(name)]);
  const secret = addresses.every((address) => isAt(address, host)) ? ownKey(env[variable]) : null;
  return secret === null ? null : { variable, secret };
}

/** Where the preset's server listens on this machine; null if it does not. */
async function localUrl(
  env: Surroundings['env'],
  { slug, base_url }: SourcePreset,
  ask: Fetch,
): Promise<URL | null> {
  if (slug === 'ollama') {
    const url = ollamaUrl(env['OLLAMA_HOST']);
    if (url === null || !(await hasOllama(url, ask))) return null;
    return new URL(`${url.origin}/v1`);
  }
  if (!LOCAL.includes(slug)) return null;
  return (await hasModelList(base_url, ask)) ? new URL(base_url) : null;
}

/** What to begin with of a provider's models, by its preset. */
export function chooserOf(slug: string): Source['choose'] {
  if (slug === 'openai') return newestGpt;
  // Anthropic's list begins with the newest.
  if (slug === 'anthropic')
    return (models) => models.filter((id) => id.startsWith('claude-')).slice(0, MODELS_MAX);
  return (models) => models.filter((id) => !/embed/i.test(id)).slice(0, MODELS_MAX);
}

/** Null without a key, or with one of Relay, which must not be sent to the provider. */
function ownKey(key: string | undefined): string | null {
  const trimmed = key?.trim() ?? '';
  return trimmed === '' || /^(?:rly_|relay-)/.test(trimmed) ? null : trimmed;
}

function isAt(address: string | undefined, host: string): boolean {
  const trimmed = address?.trim() ?? '';
  return trimmed === '' || URL.parse(trimmed)?.hostname === host;
}

/**
 * Where Ollama listens, by its own variable: a URL, a host, a port or both. Null for what it does not understand either. A server on all
 * addresses is called on loopback.
 */
export function ollamaUrl(given = ''): URL | null {
  const text = given.trim();
  const url = URL.parse(
    /^https?:\/\//.test(text) ? text : `http://${text.replace(/^(:|$)/, `${OLLAMA.host}:`)}`,
  );
  if (url === null) return null;
  const isPlain = url.port === '' && !/^https?:\/\//.test(text);
  if (isPlain) url.port = String(OLLAMA.port);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = OLLAMA.host;
  return url;
}

/** A server that answers something else is not Ollama. */
async function hasOllama({ origin }: URL, ask: Fetch): Promise<boolean> {
  const body = await probe(`${origin}/api/version`, ask);
  return isObject(body) && typeof body['version'] === 'string';
}

/** Whether the address has a list of models, as OpenAI's API returns it. */
async function hasModelList(baseUrl: string, ask: Fetch): Promise<boolean> {
  const body = await probe(`${baseUrl}/models`, ask);
  const data = isObject(body) && body['object'] === 'list' ? body['data'] : null;
  return Array.isArray(data) && data.some((each) => isObject(each) && typeof each['id'] === 'string');
}

/** One short request; null without a JSON response. */
async function probe(url: string, ask: Fetch): Promise<unknown> {
  try {
    const response = await ask(url, { signal: AbortSignal.timeout(PROBE_MS_MAX), redirect: 'error' });
    return response.ok ? ((await response.json()) as unknown) : null;
  } catch {
    return null;
  }
}

/** The list has models of every kind, in no order: `gpt-5.1`, `gpt-5.1-mini`, `gpt-4o`, without dates and audio. */
function newestGpt(models: readonly string[]): readonly string[] {
  const known = models.flatMap((id) => {
    const [, version, small] = /^gpt-(\d+(?:\.\d+)?)o?(-mini)?$/.exec(id) ?? [];
    return version === undefined ? [] : [{ id, version: Number(version), isSmall: small !== undefined }];
  });
  known.sort((one, other) => other.version - one.version || Number(one.isSmall) - Number(other.isSmall));
  const newest = known.map(({ id }) => id);
  const others = models.filter((id) => id.startsWith('gpt-') && !NOT_CHAT.test(id));
  return (newest.length > 0 ? newest : others).slice(0, MODELS_MAX);
}
