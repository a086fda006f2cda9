import { isAbsolute } from 'node:path';
import { InvalidCidrError, parseCidr } from '../kit/egress/index.ts';
import { parseMasterKey } from '../kit/seal.ts';
import { parseRedisUrls } from '../store/redis-urls.ts';
import type { RoleName } from './roles.ts';

/** How one variable is read. `parse` throws with a text that says what the value must be. */
export interface Variable<T, Presence extends 'always' | 'maybe'> {
  readonly description: string;
  /** What stands in for it, as it would be written; null when nothing does. */
  readonly fallback: string | null;
  /** `always`: required, or with a fallback. `maybe`: null when it is not set. */
  readonly presence: Presence;
  readonly parse: (text: string) => T;
}

function required<T>(parse: (text: string) => T, description: string): Variable<T, 'always'> {
  return { parse, description, fallback: null, presence: 'always' };
}

function optional<T>(parse: (text: string) => T, description: string): Variable<T, 'maybe'> {
  return { parse, description, fallback: null, presence: 'maybe' };
}

function withDefault<T>(
  parse: (text: string) => T,
  fallback: string,
  description: string,
): Variable<T, 'always'> {
  return { parse, description, fallback, presence: 'always' };
}

const TOKEN_CHARACTERS_MIN = 32;
const PLACEHOLDER = /^(?:change|replace|your|example|placeholder|secret|token|password|xxx|test)|(.)\1{7}/i;

function url(...schemes: string[]): (value: string) => string {
  return (value) => {
    const ok = URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1));
    if (!ok)
      throw new Error(`must be a URL starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
    return value;
  };
}

function oneOf<T extends string>(...allowed: T[]): (value: string) => T {
  return (value) => {
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };
}

function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const parsed = Number(value);
    if (!/^\d+$/.test(value) || parsed < min || parsed > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return parsed;
  };
}

function token(value: string): string {
  if (value.length < TOKEN_CHARACTERS_MIN)
    throw new Error(`must have at least ${TOKEN_CHARACTERS_MIN} characters`);
  if (PLACEHOLDER.test(value)) throw new Error('looks like a placeholder; use a random value');
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must be printable ASCII without spaces');
  return value;
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function masterKey(value: string): Buffer {
  try {
    return parseMasterKey(value);
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : 'must be 32 random bytes in base64 or hex');
  }
}

function thirtyTwoBytes(value: string): Buffer {
  const isHex = /^[0-9a-f]{64}$/i.test(value);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) throw new Error('must be 32 bytes in base64 or hex');
  const bytes = Buffer.from(value, isHex ? 'hex' : 'base64');
  // Of 32 random bytes hardly any two are equal, and not all of them are letters.
  if (new Set(bytes).size < 16 || bytes.every((byte) => byte >= 0x20 && byte < 0x7f))
    throw new Error('looks like a placeholder; `relay context-key` prints a new pair');
  return bytes;
}

/** Points for which anybody can make a signature that holds; the others of this kind are no 16 different bytes. */
const SMALL_ORDER = [
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
];

function ed25519PublicKey(value: string): Buffer {
  const bytes = thirtyTwoBytes(value);
  const unsigned = Buffer.from(bytes);
  unsigned.writeUInt8((bytes.at(-1) ?? 0) & 0x7f, 31);
  if (SMALL_ORDER.includes(unsigned.toString('hex'))) throw new Error('has an entry that is no public key');
  return bytes;
}

/** An address without a path: what a context is signed for is the path that the client sent. */
function origin(value: string): string {
  const parsed = new URL(url('http', 'https')(value));
  if (
    parsed.username !== '' ||
    parsed.password !== '' ||
    `${parsed.pathname}${parsed.search}${parsed.hash}` !== '/'
  )
    throw new Error('must be an address without a path, such as http://inference:8080');
  return parsed.origin;
}

function networks(value: string): string[] {
  const given = list(value);
  for (const each of given) {
    try {
      parseCidr(each);
    } catch (error) {
      if (error instanceof InvalidCidrError) throw new Error(`has an entry that ${error.message}`);
      throw error;
    }
  }
  return given;
}

function redisUrls(value: string): string {
  parseRedisUrls(value);
  return value;
}

function stripeSecret(value: string): string {
  if (!/^whsec_[\x21-\x7e]{16,}$/.test(value))
    throw new Error('must be the signing secret of a webhook, which starts with whsec_');
  return value;
}

function absolutePath(value: string): string {
  if (!isAbsolute(value)) throw new Error('must be an absolute path, such as /var/lib/relay/spool');
  return value;
}

function listenAddress(value: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new Error('must be host:port, such as 127.0.0.1:8080 or [::]:8080');
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

/** Every variable the server reads. The reference page is generated from this table. */
export const variables = {
  DATABASE_URL: required(url('postgres', 'postgresql'), 'PostgreSQL: configuration and the request ledger.'),
  REDIS_URL: required(
    redisUrls,
    'Redis or Valkey: live admission state and usage transport. One URL, or nodes of a cluster with commas between.',
  ),
  RELAY_HTTP_ADDR: withDefault(listenAddress, '127.0.0.1:8080', 'Where to listen, as host:port.'),
  RELAY_PUBLIC_URL: optional(
    url('http', 'https'),
    'Address under which clients reach this deployment, for links in errors. Without it the listen address.',
  ),
  RELAY_MODE: withDefault(
    oneOf('self_hosted', 'hosted'),
    'self_hosted',
    'Who runs this deployment for whom: `self_hosted` with two tokens, or `hosted` for many organizations.',
  ),
  RELAY_API_TOKEN: optional(token, 'Opens inference in self-hosted mode. At least 32 random characters.'),
  RELAY_ADMIN_TOKEN: optional(token, 'Opens management in self-hosted mode. Must differ from the API token.'),
  RELAY_ACCOUNTS: withDefault(
    (value) => oneOf('true', 'false')(value) === 'true',
    'false',
    'Whether a self-hosted deployment has users, roles, User API keys and their budgets. A hosted one always has.',
  ),
  RELAY_AUTH_SECRET: optional(
    token,
    'Needed with accounts: what stored keys and browser sessions are hashed and signed with. Changing it ends all of them.',
  ),
  RELAY_KEY_CACHE_MAX: withDefault(
    integer(1_000, 10_000_000),
    '200000',
    'User API keys that one process keeps in memory.',
  ),
  RELAY_OIDC_ISSUER: optional(
    url('http', 'https'),
    'Single sign-on: the issuer of an OpenID Connect provider, for everyone in the deployment.',
  ),
  RELAY_OIDC_CLIENT_ID: optional((value) => value, 'Single sign-on: the client id.'),
  RELAY_OIDC_CLIENT_SECRET: optional((value) => value, 'Single sign-on: the client secret.'),
  RELAY_OIDC_JOIN_ROLE: optional(
    oneOf('admin', 'developer', 'viewer', 'billing'),
    'Self-hosted: the role of whoever signs in by single sign-on for the first time. Without it they need an invitation.',
  ),
  RELAY_INFERENCE_URL: optional(
    origin,
    'Hosted, role platform: where the inference role answers, such as `http://inference:8080`.',
  ),
  RELAY_CONTEXT_SIGNING_KEY: optional(
    thirtyTwoBytes,
    'Hosted, role platform: signs the context that inference trusts. 32 random bytes in base64 or hex; `relay context-key` prints them.',
  ),
  RELAY_CONTEXT_VERIFY_KEYS: withDefault(
    (value) => list(value).map(ed25519PublicKey),
    '',
    'Hosted, role inference: the public keys of platforms, in base64 or hex, separated by commas, several while one replaces another.',
  ),
  RELAY_STRIPE_WEBHOOK_SECRET: optional(
    stripeSecret,
    'Hosted: the signing secret of the webhook at which Stripe reports invoices and subscriptions. Without it there is no billing history.',
  ),
  RELAY_MASTER_KEY: required(masterKey, 'Seals provider credentials: 32 random bytes in base64 or hex.'),
  RELAY_MASTER_KEY_PREVIOUS: withDefault(
    (value) => list(value).map(masterKey),
    '',
    'Earlier master keys, separated by commas. Credentials sealed with them are resealed at start.',
  ),
  RELAY_MAX_BODY_BYTES: withDefault(
    integer(1_024, 1_073_741_824),
    '20971520',
    'Largest inference request body.',
  ),
  RELAY_DRAIN_TIMEOUT_MS: withDefault(
    integer(0, 3_600_000),
    '30000',
    'How long SIGTERM waits for open requests and streams.',
  ),
  RELAY_ALLOW_PRIVATE_NETWORKS: withDefault(
    networks,
    '',
    'Private networks that providers may live in, as CIDRs separated by commas: `10.0.0.0/8,127.0.0.1/32`.',
  ),
  RELAY_UPSTREAM_CONNECT_TIMEOUT_MS: withDefault(
    integer(1, 600_000),
    '5000',
    'Deadline for connecting to a provider.',
  ),
  RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: withDefault(
    integer(1, 3_600_000),
    '300000',
    'Deadline from sending a request to the headers of the answer.',
  ),
  RELAY_UPSTREAM_IDLE_TIMEOUT_MS: withDefault(
    integer(1, 3_600_000),
    '120000',
    'Longest silence within an answer.',
  ),
  RELAY_UPSTREAM_CONNECTIONS_MAX: withDefault(
    integer(1, 65_535),
    '4096',
    'Connections to one provider origin, and from a platform to inference; each stream holds one.',
  ),
  RELAY_ATTEMPTS_MAX: withDefault(
    integer(1, 20),
    '4',
    'Candidates tried for one request, the first included.',
  ),
  RELAY_WAITERS_MAX: withDefault(
    integer(1, 1_000_000),
    '5000',
    'Requests of one caller that may wait for capacity in one lane; more are refused with `queue_full`.',
  ),
  RELAY_SPOOL_DIR: optional(
    absolutePath,
    'Where usage is kept while Redis does not take it: a directory of this deployment alone, on a local disk that outlives the process. Without it one below `relay-spool` among the temporary files.',
  ),
  RELAY_SPOOL_BYTES_MAX: withDefault(
    integer(1_048_576, 1_099_511_627_776),
    '268435456',
    'How much one process keeps there; past it new requests are refused with `metering_unavailable` while Redis is away.',
  ),
  RELAY_METRICS_TOKEN: optional(
    token,
    'Opens `/metrics` as a bearer token. At least 32 random characters. Without it `/metrics` answers this machine only.',
  ),
  RELAY_LEDGER_RETENTION_DAYS: withDefault(
    integer(1, 36_500),
    '400',
    'Days that requests stay in the ledger; whole days are dropped after that.',
  ),
  RELAY_DATABASE_POOL_MAX: withDefault(integer(1, 200), '10', 'Connections to PostgreSQL per process.'),
  RELAY_LOG_LEVEL: withDefault(
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'How much is logged: `debug`, `info`, `warn`, `error` or `silent`.',
  ),
} as const;

type Given<V> =
  V extends Variable<infer T, infer Presence> ? (Presence extends 'always' ? T : T | null) : never;
export type Environment = { readonly [Name in keyof typeof variables]: Given<(typeof variables)[Name]> };

export class EnvironmentError extends Error {}

/** Reads everything at once, so that one start shows every fault. An empty value counts as not set. */
export function readEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  role: RoleName = 'all',
): Environment {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries<Variable<unknown, 'always' | 'maybe'>>(variables)) {
    const given = source[name]?.trim() || definition.fallback;
    values[name] = null;
    if (given === null) {
      if (definition.presence === 'always') faults.push(`${name} is missing. ${definition.description}`);
      continue;
    }
    try {
      values[name] = definition.parse(given);
    } catch (error) {
      faults.push(`${name} ${error instanceof Error ? error.message : 'cannot be read'}.`);
    }
  }
  const environment = values as Environment;
  if (faults.length === 0) faults.push(...modeFaults(environment, role));
  if (faults.length > 0) throw new EnvironmentError(faults.map((fault) => `  - ${fault}`).join('\n'));
  return environment;
}

type Optional = {
  [Name in keyof Environment]: null extends Environment[Name] ? Name : never;
}[keyof Environment];

/** What the mode and the role need, although no variable is needed by itself. */
function modeFaults(environment: Environment, role: RoleName): string[] {
  const faults: string[] = [];
  if ((environment.RELAY_OIDC_ISSUER === null) !== (environment.RELAY_OIDC_CLIENT_ID === null))
    faults.push('RELAY_OIDC_ISSUER and RELAY_OIDC_CLIENT_ID are set together or not at all.');
  const need = (...names: Optional[]) => {
    for (const name of names)
      if (environment[name] === null) faults.push(`${name} is missing. ${variables[name].description}`);
  };
  if (environment.RELAY_MODE === 'self_hosted') {
    const { RELAY_API_TOKEN: api, RELAY_ADMIN_TOKEN: admin } = environment;
    need('RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN');
    if (api !== null && api === admin) faults.push('RELAY_API_TOKEN and RELAY_ADMIN_TOKEN must differ.');
    const { RELAY_METRICS_TOKEN: metrics } = environment;
    // Whoever scrapes may do nothing else.
    if (metrics !== null && [api, admin].includes(metrics))
      faults.push('RELAY_METRICS_TOKEN must differ from RELAY_API_TOKEN and RELAY_ADMIN_TOKEN.');
    if (environment.RELAY_ACCOUNTS) need('RELAY_AUTH_SECRET');
    return faults;
  }
  if (role === 'all' || role === 'platform') need('RELAY_AUTH_SECRET');
  if (role === 'platform') need('RELAY_INFERENCE_URL', 'RELAY_CONTEXT_SIGNING_KEY');
  return [...faults, ...verifyKeyFaults(environment, role)];
}

function verifyKeyFaults(environment: Environment, role: RoleName): string[] {
  const { RELAY_CONTEXT_VERIFY_KEYS: keys, RELAY_CONTEXT_SIGNING_KEY: signing } = environment;
  if (role === 'inference' && keys.length === 0)
    return [`RELAY_CONTEXT_VERIFY_KEYS is missing. ${variables.RELAY_CONTEXT_VERIFY_KEYS.description}`];
  if (signing !== null && keys.some((key) => key.equals(signing)))
    return [
      'RELAY_CONTEXT_VERIFY_KEYS holds the signing key itself; it takes the public key that belongs to it.',
    ];
  return [];
}
