import { InvalidCidrError, parseCidr } from '../kit/egress/index.ts';
import { parseMasterKey } from '../kit/seal.ts';
import { parseRedisUrls } from '../store/redis-urls.ts';

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
    'Connections to one provider origin; each stream holds one.',
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
export function readEnvironment(source: Readonly<Record<string, string | undefined>>): Environment {
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
  if (faults.length === 0) faults.push(...modeFaults(environment));
  if (faults.length > 0) throw new EnvironmentError(faults.map((fault) => `  - ${fault}`).join('\n'));
  return environment;
}

function modeFaults(environment: Environment): string[] {
  if (environment.RELAY_MODE === 'hosted') {
    return ['RELAY_MODE=hosted needs accounts, which this version does not have yet; use self_hosted.'];
  }
  const { RELAY_API_TOKEN: api, RELAY_ADMIN_TOKEN: admin } = environment;
  const faults: string[] = [];
  if (api === null) faults.push(`RELAY_API_TOKEN is missing. ${variables.RELAY_API_TOKEN.description}`);
  if (admin === null) faults.push(`RELAY_ADMIN_TOKEN is missing. ${variables.RELAY_ADMIN_TOKEN.description}`);
  if (api !== null && api === admin) faults.push('RELAY_API_TOKEN and RELAY_ADMIN_TOKEN must differ.');
  return faults;
}
