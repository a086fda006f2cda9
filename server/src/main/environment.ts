import { parseMailFrom, parseSmtpUrl } from '../mail/smtp-server.ts';
import {
  absolutePath,
  configPath,
  ed25519PublicKey,
  integer,
  list,
  listenAddress,
  masterKey,
  networks,
  oneOf,
  origin,
  origins,
  redisUrls,
  stripeSecret,
  thirtyTwoBytes,
  token,
  url,
} from './environment-values.ts';
import type { RoleName } from './roles.ts';

export type VariablePresence = 'always' | 'servers' | 'maybe';

/** One variable. `parse` throws with a message that says what the value must be. */
export interface Variable<T, Presence extends VariablePresence> {
  readonly description: string;
  /** The default, as it would be written in the environment; null without one. */
  readonly fallback: string | null;
  /** `always`: required, or with a default. `servers`: required unless stores are embedded. `maybe`: null when not set. */
  readonly presence: Presence;
  readonly parse: (text: string) => T;
}

function required<T>(parse: (text: string) => T, description: string): Variable<T, 'always'> {
  return { parse, description, fallback: null, presence: 'always' };
}

function forServers<T>(parse: (text: string) => T, description: string): Variable<T, 'servers'> {
  return { parse, description, fallback: null, presence: 'servers' };
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

/** Every variable that the server reads. The reference page is generated from this table. */
export const variables = {
  DATABASE_URL: forServers(
    url('postgres', 'postgresql'),
    'PostgreSQL: configuration and the request ledger.',
  ),
  REDIS_URL: forServers(
    redisUrls,
    'Redis or Valkey: live admission state and usage transport. One URL, or nodes of a cluster with commas between.',
  ),
  RELAY_DATA_DIR: optional(
    (value) => value,
    '`relay start`: where the database, usage and secrets are kept. Without it `relay-data` in the working directory.',
  ),
  RELAY_HTTP_ADDR: withDefault(listenAddress, '127.0.0.1:8080', 'Where to listen, as host:port.'),
  RELAY_PUBLIC_URL: optional(
    url('http', 'https'),
    'Address under which clients reach this deployment, for links in errors and e-mail. Without it the listen address.',
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
    'Self-hosted: the role of people who sign in by single sign-on for the first time. Without it they need an invitation.',
  ),
  RELAY_SMTP_URL: optional(
    parseSmtpUrl,
    'The mail server for invitations, password resets and alerts: `smtps://user:password@mail.example.com:465`, or `smtp://` with port 587 for STARTTLS. The server must offer it, unless it is on this machine and needs no password, or the URL ends with `?tls=none`. Needs `RELAY_MAIL_FROM` and `RELAY_PUBLIC_URL`. Without it Relay sends no e-mail.',
  ),
  RELAY_MAIL_FROM: optional(
    parseMailFrom,
    'The sender of e-mail, such as `Relay <relay@example.com>`. The mail server must accept it.',
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
  RELAY_BODY_MEMORY_BYTES: withDefault(
    integer(1_048_576, 1_099_511_627_776),
    '1073741824',
    'Memory of one process for inference request bodies over 64 KiB, at least twice the largest. A body that does not fit waits up to 10 seconds, then `queue_full`. In hosted mode, one organization may hold as much as is left free: half of it when it is alone.',
  ),
  RELAY_CORS_ORIGINS: withDefault(
    origins,
    '',
    'Origins whose pages may call `/v1` from a browser, separated by commas: `https://app.example.com,http://localhost:5173`. Exact; no wildcard. Without it no page of another origin may.',
  ),
  RELAY_DRAIN_TIMEOUT_MS: withDefault(
    integer(0, 3_600_000),
    '30000',
    'How long SIGTERM waits for open requests, those that wait for capacity and streams. What is open then gets `draining` and a last frame.',
  ),
  RELAY_LAME_DUCK_MS: withDefault(
    integer(0, 3_600_000),
    '5000',
    'How long, of that time, new requests are still served after SIGTERM, while `/readyz` answers 503: longer than a load balancer takes to notice. `relay start` has 0.',
  ),
  RELAY_ALLOW_PRIVATE_NETWORKS: withDefault(
    networks,
    '',
    'Private networks that providers may live in, as CIDRs separated by commas: `10.0.0.0/8,127.0.0.1/32`. `relay start` adds the loopback addresses of this machine while it listens on one of them, unless `RELAY_PUBLIC_URL` names another host or the mode is hosted.',
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
    'Connections to one provider origin, and from a platform to inference; each stream holds one. In hosted mode, one organization may hold as many of an origin as are left free: half of them when it is alone.',
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
  RELAY_WAITING_MAX: withDefault(
    integer(2, 10_000_000),
    '20000',
    'Requests that may wait for capacity in one process; more are refused with `queue_full`. In hosted mode, one organization may hold as many of these places as are left free: half of them when it is alone.',
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
  RELAY_USAGE_FILES_DIR: optional(
    absolutePath,
    'Writes every row of the ledger to this directory too, as files of newline-delimited JSON. Set it for all processes with the role `worker` or `all`.',
  ),
  RELAY_USAGE_FILES_SECONDS: withDefault(
    integer(1, 86_400),
    '60',
    'How many seconds a row may wait before its file is closed. A file is also closed at 64 MiB.',
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
  RELAY_CONFIG: optional(
    configPath,
    'Self-hosted: a configuration file (`relay.yaml`) that is applied at start, in the roles `all` and `platform`. What it names is owned by it; a file that cannot be applied stops the start.',
  ),
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

/** `servers`: PostgreSQL and Redis. `embedded`: a data directory that one process owns. */
export type StoreKind = 'servers' | 'embedded';

/** Reads every variable and reports all invalid settings together. An empty value counts as not set. */
export function readEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  role: RoleName = 'all',
  stores: StoreKind = 'servers',
): Environment {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries<Variable<unknown, VariablePresence>>(variables)) {
    const given = source[name]?.trim() || definition.fallback;
    values[name] = null;
    if (given === null) {
      const isNeeded = definition.presence === 'always' || definition.presence === stores;
      if (isNeeded) faults.push(`${name} is missing. ${definition.description}`);
      continue;
    }
    try {
      values[name] = definition.parse(given);
    } catch (error) {
      faults.push(`${name} ${error instanceof Error ? error.message : 'cannot be read'}.`);
    }
  }
  const environment = values as Environment;
  if (stores === 'embedded') faults.push(...embeddedFaults(source));
  if (faults.length === 0) faults.push(...modeFaults(environment, role));
  if (faults.length > 0) throw new EnvironmentError(faults.map((fault) => `  - ${fault}`).join('\n'));
  return environment;
}

/** Settings that `relay start` cannot use. */
function embeddedFaults(source: Readonly<Record<string, string | undefined>>): string[] {
  const given = (...names: (keyof Environment)[]) =>
    names.filter((name) => (source[name]?.trim() ?? '') !== '');
  const faults = given('DATABASE_URL', 'REDIS_URL').map(
    (name) =>
      `${name} is set, and \`relay start\` uses no server: it keeps everything in its data directory. Unset it, or use ` +
      '`relay serve`; `relay migrate --from DIR --to DATABASE_URL` carries over what a data directory holds.',
  );
  if (given('RELAY_SPOOL_DIR').length > 0)
    faults.push('RELAY_SPOOL_DIR is set, and `relay start` keeps usage in its data directory. Unset it.');
  const apart = given('RELAY_INFERENCE_URL', 'RELAY_CONTEXT_SIGNING_KEY', 'RELAY_CONTEXT_VERIFY_KEYS');
  for (const name of apart)
    faults.push(
      `${name} is set, which is for roles in processes of their own; \`relay start\` is all of them in one. Unset it, or use ` +
        '`relay serve --role …` with PostgreSQL and Redis.',
    );
  return faults;
}

type Optional = {
  [Name in keyof Environment]: null extends Environment[Name] ? Name : never;
}[keyof Environment];

/** Optional variables that this mode and role require. */
function modeFaults(environment: Environment, role: RoleName): string[] {
  const faults: string[] = [];
  if ((environment.RELAY_OIDC_ISSUER === null) !== (environment.RELAY_OIDC_CLIENT_ID === null))
    faults.push('RELAY_OIDC_ISSUER and RELAY_OIDC_CLIENT_ID are set together or not at all.');
  faults.push(...mailFaults(environment));
  const need = (...names: Optional[]) => {
    for (const name of names)
      if (environment[name] === null) faults.push(`${name} is missing. ${variables[name].description}`);
  };
  if (environment.RELAY_MODE === 'self_hosted') {
    const { RELAY_API_TOKEN: api, RELAY_ADMIN_TOKEN: admin } = environment;
    need('RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN');
    if (api !== null && api === admin) faults.push('RELAY_API_TOKEN and RELAY_ADMIN_TOKEN must differ.');
    const { RELAY_METRICS_TOKEN: metrics } = environment;
    // The scraper's token must not allow anything else.
    if (metrics !== null && [api, admin].includes(metrics))
      faults.push('RELAY_METRICS_TOKEN must differ from RELAY_API_TOKEN and RELAY_ADMIN_TOKEN.');
    if (environment.RELAY_ACCOUNTS) need('RELAY_AUTH_SECRET');
    return faults;
  }
  if (environment.RELAY_CONFIG !== null)
    faults.push('RELAY_CONFIG is for self-hosted deployments: here each organization applies its own file.');
  if (role === 'all' || role === 'platform') need('RELAY_AUTH_SECRET');
  if (role === 'platform') need('RELAY_INFERENCE_URL', 'RELAY_CONTEXT_SIGNING_KEY');
  return [...faults, ...verifyKeyFaults(environment, role)];
}

/** A link is never built from a request, so it needs the configured address. */
function mailFaults(environment: Environment): string[] {
  const { RELAY_SMTP_URL: server, RELAY_MAIL_FROM: from, RELAY_PUBLIC_URL: publicUrl } = environment;
  if ((server === null) !== (from === null))
    return ['RELAY_SMTP_URL and RELAY_MAIL_FROM are set together or not at all.'];
  if (server !== null && publicUrl === null)
    return ['RELAY_PUBLIC_URL is missing. Links in e-mail lead to it, so RELAY_SMTP_URL needs it.'];
  return [];
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
