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

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const OLLAMA = { host: '127.0.0.1', port: 11_434 };
const OLLAMA_MS_MAX = 500;
const MODELS_MAX = 3;
const NOT_CHAT = /audio|image|realtime|transcribe|tts|search|instruct|codex/;

/** Keys in the environment, and Ollama where it listens. */
export async function findSources({ env }: Pick<Surroundings, 'env'>, ask: Fetch = fetch): Promise<Source[]> {
  const found: Source[] = [];
  const openai = ownKey(env['OPENAI_API_KEY'], env['OPENAI_BASE_URL'], 'api.openai.com');
  if (openai !== null) {
    found.push({
      slug: 'openai',
      name: 'OpenAI',
      seen: 'OPENAI_API_KEY',
      baseUrl: 'https://api.openai.com/v1',
      secret: openai,
      choose: newestGpt,
    });
  }
  const anthropic = ownKey(env['ANTHROPIC_API_KEY'], env['ANTHROPIC_BASE_URL'], 'api.anthropic.com');
  if (anthropic !== null) {
    found.push({
      slug: 'anthropic',
      name: 'Anthropic',
      seen: 'ANTHROPIC_API_KEY',
      baseUrl: 'https://api.anthropic.com/v1',
      secret: anthropic,
      // Its list begins with the newest.
      choose: (models) => models.filter((id) => id.startsWith('claude-')).slice(0, MODELS_MAX),
    });
  }
  const ollama = ollamaUrl(env['OLLAMA_HOST']);
  if (ollama !== null && (await hasOllama(ollama, ask))) {
    found.push({
      slug: 'ollama',
      name: 'Ollama',
      seen: `Ollama at ${ollama.host}`,
      baseUrl: `${ollama.origin}/v1`,
      secret: null,
      choose: (models) => models.filter((id) => !/embed/i.test(id)).slice(0, MODELS_MAX),
    });
  }
  return found;
}

/**
 * Null without a key of the provider itself: one that belongs to another address, or to Relay, must not be sent to
 * the provider.
 */
function ownKey(key: string | undefined, baseUrl: string | undefined, host: string): string | null {
  const trimmed = key?.trim() ?? '';
  if (trimmed === '' || /^(?:rly_|relay-)/.test(trimmed)) return null;
  const address = baseUrl?.trim() ?? '';
  return address === '' || URL.parse(address)?.hostname === host ? trimmed : null;
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

/** One short request; a server that answers something else is not Ollama. */
async function hasOllama({ origin }: URL, ask: Fetch): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(OLLAMA_MS_MAX);
    const response = await ask(`${origin}/api/version`, { signal, redirect: 'error' });
    const body: unknown = await response.json();
    return response.ok && isObject(body) && typeof body['version'] === 'string';
  } catch {
    return false;
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
