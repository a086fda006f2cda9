import type { WireProtocol } from './resources/values.ts';

/** A header that Relay passes on as it came. */
export interface PassedHeader {
  /** In lower case. With `*` at its end: every header whose name begins so. */
  readonly name: string;
  readonly why: string;
}

export interface HeaderToProvider extends PassedHeader {
  /** Only requests of this protocol carry it, to providers of the same protocol. Null: every request does, also a translated one. */
  readonly only: WireProtocol | null;
}

/**
 * The client's headers that providers receive. An allowlist keeps back everything else without naming it: credentials, cookies,
 * hop-by-hop and forwarding headers, Relay's own. Considered and kept back:
 * - `openai-organization` and `openai-project` choose who is billed, which is the operator's decision, not the client's.
 * - `idempotency-key`: all clients share the provider's account, so a client could guess another's key and be sent its answer.
 * - `tracestate` and `baggage` hold whatever a company's tracing puts there, such as names of tenants and users.
 */
export const headersToProvider: readonly HeaderToProvider[] = [
  anyRequest('accept', 'Selects the form of the response.'),
  anyRequest(
    'user-agent',
    'Firewalls of providers reject requests without one, and some plans accept only certain clients.',
  ),
  anyRequest(
    'traceparent',
    'Random IDs only; a provider of one’s own, such as vLLM, joins its trace with it. If Relay traces the request, it names the attempt in place of the client’s span.',
  ),
  anyRequest('x-client-request-id', 'The client’s ID of the request, for the provider’s support.'),
  anyRequest('session_id', cacheAffinity('Codex')),
  anyRequest('x-session-id', cacheAffinity('OpenRouter')),
  anyRequest('x-session-affinity', cacheAffinity('Cloudflare and Fireworks')),
  anyRequest('x-grok-conv-id', cacheAffinity('xAI')),
  { name: 'openai-beta', only: 'openai', why: 'Enables the features that the body uses.' },
  {
    name: 'anthropic-*',
    only: 'anthropic',
    why: 'Clients choose version and features with `anthropic-version`, `anthropic-beta` and others.',
  },
];

/**
 * The provider's headers that clients receive. Any other could steer the client past Relay (`location`, `refresh`, `link`,
 * `alt-svc`, `set-cookie`), ask it for credentials, name the provider's account, or be mistaken for Relay's own.
 */
export const headersToClient: readonly PassedHeader[] = [
  { name: 'content-type', why: 'What the body is.' },
  { name: 'content-encoding', why: 'How the body is compressed.' },
  { name: 'content-length', why: 'The length of the body.' },
  { name: 'content-language', why: 'The language of the body.' },
  { name: 'cache-control', why: 'Keeps proxies from storing or buffering the response.' },
  { name: 'retry-after', why: 'When to retry.' },
  { name: 'retry-after-ms', why: 'The same, in milliseconds.' },
  { name: 'x-should-retry', why: 'Whether a retry can help; OpenAI’s and Anthropic’s SDKs obey it.' },
  { name: 'openai-model', why: 'OpenAI’s note on the response.' },
  { name: 'openai-processing-ms', why: 'OpenAI’s note on the response.' },
  { name: 'openai-version', why: 'OpenAI’s note on the response.' },
];

/** A query parameter whose name contains one of these words, in any case, may carry a credential and never reaches a provider. */
export const credentialWords = ['key', 'token', 'secret', 'pass', 'auth', 'cred', 'sig', 'code'] as const;

/** Random or opaque, and no secret: it selects the machine that has the conversation's prompt in its cache. */
function cacheAffinity(whose: string): string {
  return `Routes a conversation to the machine that has its prompt in the cache (${whose}).`;
}

function anyRequest(name: string, why: string): HeaderToProvider {
  return { name, only: null, why };
}
