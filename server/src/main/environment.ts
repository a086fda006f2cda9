import { looksLikeApiKey } from '../domain/api-key.ts';
import { parseMailFrom, parseSmtpUrl } from '../mail/smtp-server.ts';
import { parseNatsUrl } from '../metering/sinks/jetstream/nats-servers.ts';
import {
  absolutePath,
  configPath,
  ed25519PublicKey,
  headerList,
  integer,
  list,
  listenAddress,
  masterKey,
  networks,
  oneOf,
  origin,
  origins,
  ratio,
  redisUrls,
  streamName,
  stripeSecret,
  thirtyTwoBytes,
  token,
  tokens,
  tracesUrl,
  url,
} from './environment-values.ts';
import {
  forServers,
  optional,
  required,
  type Variable,
  type VariablePresence,
  withDefault,
} from './environment-variable.ts';
import type { RoleName } from './roles.ts';

/** Every variable that the server reads. The reference page is generated from this table. */
export const variables = {
  DATABASE_URL: forServers(
    url('postgres', 'postgresql'),
    'PostgreSQL: configuration and the request ledger.',
  ),
  DATABASE_DIRECT_URL: optional(
    url('postgres', 'postgresql'),
    'Required if `DATABASE_URL` points to a connection pooler such as PgBouncer: the URL of PostgreSQL itself, for migrations and notifications. Each process keeps one connection to it.',
  ),
  DATABASE_READ_URL: optional(
    url('postgres', 'postgresql'),
    'A streaming replica for the usage pages and `relay usage`. These statistics lag by as much as the replica does. Default: `DATABASE_URL`.',
  ),
  REDIS_URL: forServers(
    redisUrls,
    'Redis or Valkey: live admission state and usage transport. One URL, or the nodes of a cluster, separated by commas.',
  ),
  RELAY_DATA_DIR: optional(
    (value) => value,
    '`relay start`: the data directory for database, usage and secrets. Default: `relay-data` in the working directory.',
  ),
  RELAY_HTTP_ADDR: withDefault(listenAddress, '127.0.0.1:8080', 'Listen address, as host:port.'),
  RELAY_PUBLIC_URL: optional(
    url('http', 'https'),
    'Address at which clients reach this deployment, for links in errors and email. Default: the listen address.',
  ),
  RELAY_MODE: withDefault(
    oneOf('self_hosted', 'hosted'),
    'self_hosted',
    '`self_hosted` with 2 tokens, or `hosted` for many organizations.',
  ),
  RELAY_API_TOKEN: optional(
    token,
    'API token: allows inference in self-hosted mode. At least 32 random characters.',
  ),
  RELAY_API_TOKEN_PREVIOUS: withDefault(
    tokens,
    '',
    'Earlier API tokens that are still valid while clients change to the new one, separated by commas.',
  ),
  RELAY_ADMIN_TOKEN: optional(
    token,
    'Admin token: allows management in self-hosted mode. Must differ from the API token.',
  ),
  RELAY_ADMIN_TOKEN_PREVIOUS: withDefault(
    tokens,
    '',
    'Earlier admin tokens that are still valid while people and scripts change to the new one, separated by commas.',
  ),
  RELAY_ACCOUNTS: withDefault(
    (value) => oneOf('true', 'false')(value) === 'true',
    'false',
    'Whether a self-hosted deployment has members, roles and sign-in. API keys exist without it and stay valid when you turn it on. A hosted deployment always has them.',
  ),
  RELAY_AUTH_SECRET: optional(
    token,
    'Required with accounts: hashes stored API keys and signs browser sessions. To replace it, list the old one in `RELAY_AUTH_SECRET_PREVIOUS`. Without it, Relay derives the secret for API keys from `RELAY_MASTER_KEY`; those keys stay valid when you set it later. Use the same value in every process.',
  ),
  RELAY_AUTH_SECRET_PREVIOUS: withDefault(
    tokens,
    '',
    'Earlier values of `RELAY_AUTH_SECRET`, separated by commas. API keys, sessions and second factors that were created under one of them are valid while it is listed.',
  ),
  RELAY_KEY_CACHE_MAX: withDefault(
    integer(1_000, 10_000_000),
    '200000',
    'Maximum number of API keys that one process keeps in memory.',
  ),
  RELAY_OIDC_ISSUER: optional(
    url('http', 'https'),
    'Single sign-on: the issuer of an OpenID Connect provider, for everyone in the deployment.',
  ),
  RELAY_OIDC_CLIENT_ID: optional((value) => value, 'Single sign-on: the client ID.'),
  RELAY_OIDC_CLIENT_SECRET: optional((value) => value, 'Single sign-on: the client secret.'),
  RELAY_OIDC_JOIN_ROLE: optional(
    oneOf('admin', 'developer', 'viewer', 'billing'),
    'Self-hosted: the role of people who sign in with single sign-on for the first time. Without it they need an invitation.',
  ),
  RELAY_SMTP_URL: optional(
    parseSmtpUrl,
    'The mail server for invitations, password resets and alerts: `smtps://user:password@mail.example.com:465`, or `smtp://` with port 587 for STARTTLS. The server must support STARTTLS, unless it is on this machine and needs no password, or the URL ends with `?tls=none`. Needs `RELAY_MAIL_FROM` and `RELAY_PUBLIC_URL`. Without it Relay sends no email.',
  ),
  RELAY_MAIL_FROM: optional(
    parseMailFrom,
    'The From address of the email that Relay sends, such as `Relay <relay@example.com>`. The mail server must accept it.',
  ),
  RELAY_INFERENCE_URL: optional(
    origin,
    'Hosted, role platform: address of the inference role, such as `http://inference:8080`.',
  ),
  RELAY_CONTEXT_SIGNING_KEY: optional(
    thirtyTwoBytes,
    'Hosted, role platform: signs the context that inference trusts. 32 random bytes in base64 or hex; `relay context-key` prints a new key pair.',
  ),
  RELAY_CONTEXT_VERIFY_KEYS: withDefault(
    (value) => list(value).map(ed25519PublicKey),
    '',
    'Hosted, role inference: the public keys of platforms, in base64 or hex, separated by commas. List several during a rotation.',
  ),
  RELAY_STRIPE_WEBHOOK_SECRET: optional(
    stripeSecret,
    'Hosted: the signing secret of the webhook that receives Stripe’s events. Without it there is no billing history.',
  ),
  RELAY_MASTER_KEY: required(masterKey, 'Encrypts provider credentials: 32 random bytes in base64 or hex.'),
  RELAY_MASTER_KEY_PREVIOUS: withDefault(
    (value) => list(value).map(masterKey),
    '',
    'Earlier master keys, separated by commas. Relay decrypts what they encrypted; `relay rotate-key` re-encrypts it under `RELAY_MASTER_KEY`. API keys created under one of them without `RELAY_AUTH_SECRET` are valid while it is listed.',
  ),
  RELAY_MAX_BODY_BYTES: withDefault(
    integer(1_024, 1_073_741_824),
    '20971520',
    'Largest inference request body.',
  ),
  RELAY_BODY_MEMORY_BYTES: withDefault(
    integer(1_048_576, 1_099_511_627_776),
    '1073741824',
    'Memory that one process can use for inference request bodies over 64 KiB. If it is less than twice `RELAY_MAX_BODY_BYTES`, Relay allows twice `RELAY_MAX_BODY_BYTES`. A body that does not fit waits up to 10 seconds, then gets `queue_full`. In hosted mode, one organization can use at most as much as remains free, so never more than half.',
  ),
  RELAY_CORS_ORIGINS: withDefault(
    origins,
    '',
    'Origins whose pages may call `/v1` from a browser, separated by commas: `https://app.example.com,http://localhost:5173`. Exact; no wildcard. Without it, browsers block pages on other origins.',
  ),
  RELAY_DRAIN_TIMEOUT_MS: withDefault(
    integer(0, 3_600_000),
    '30000',
    'Drain time: how long Relay waits after SIGTERM for open, waiting and streaming requests. Requests still open after that get the error `draining`; a stream gets it as its last frame.',
  ),
  RELAY_LAME_DUCK_MS: withDefault(
    integer(0, 3_600_000),
    '5000',
    'Part of the drain time in which Relay still accepts new requests while `/readyz` returns 503. Make it longer than your load balancer takes to notice the 503. `relay start` uses 0.',
  ),
  RELAY_ALLOW_PRIVATE_NETWORKS: withDefault(
    networks,
    '',
    'Private networks in which providers are allowed, as CIDRs separated by commas: `10.0.0.0/8,127.0.0.1/32`. `relay start` adds the loopback addresses of this machine while it listens on one of them, unless `RELAY_PUBLIC_URL` names another host or the mode is hosted.',
  ),
  RELAY_UPSTREAM_CONNECT_TIMEOUT_MS: withDefault(
    integer(1, 600_000),
    '5000',
    'Timeout for connecting to a provider.',
  ),
  RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: withDefault(
    integer(1, 3_600_000),
    '300000',
    'Timeout from sending a request to the response headers.',
  ),
  RELAY_UPSTREAM_IDLE_TIMEOUT_MS: withDefault(
    integer(1, 3_600_000),
    '120000',
    'Timeout between parts of a response.',
  ),
  RELAY_UPSTREAM_CONNECTIONS_MAX: withDefault(
    integer(1, 65_535),
    '4096',
    'Maximum number of connections to one provider origin, and from a platform to inference; each stream holds one. In hosted mode, one organization can hold at most as many connections to an origin as remain free, so never more than half.',
  ),
  RELAY_ATTEMPTS_MAX: withDefault(
    integer(1, 20),
    '4',
    'Maximum number of candidates tried for one request, including the first.',
  ),
  RELAY_WAITERS_MAX: withDefault(
    integer(1, 1_000_000),
    '5000',
    'Maximum number of requests from one caller that wait for capacity in one lane. Relay rejects further requests with `queue_full`.',
  ),
  RELAY_WAITING_MAX: withDefault(
    integer(2, 10_000_000),
    '20000',
    'Maximum number of requests that wait for capacity in one process. Relay rejects further requests with `queue_full`. In hosted mode, one organization can hold at most as many queue positions as remain free, so never more than half.',
  ),
  RELAY_SPOOL_DIR: optional(
    absolutePath,
    'Spool directory: holds usage while Redis is unavailable. Use a directory that belongs to this deployment only, on a local disk that outlives the process. Default: a subdirectory of `relay-spool` in the temporary directory.',
  ),
  RELAY_SPOOL_BYTES_MAX: withDefault(
    integer(1_048_576, 1_099_511_627_776),
    '268435456',
    'Maximum size of one process’s spool, in bytes. Beyond it, Relay rejects new requests with `metering_unavailable` while Redis is unavailable.',
  ),
  RELAY_USAGE_FILES_DIR: optional(
    absolutePath,
    'Also writes every ledger row to this directory, as newline-delimited JSON files. Set it for all processes with the role `worker` or `all`.',
  ),
  RELAY_USAGE_FILES_SECONDS: withDefault(
    integer(1, 86_400),
    '60',
    'How many seconds a row may wait before its file is closed. A file is also closed at 64 MiB.',
  ),
  RELAY_NATS_URL: optional(
    parseNatsUrl,
    'Also publishes every ledger row to a NATS JetStream stream: `nats://nats:4222`, or `tls://user:password@nats.example.com:4222`; separate the servers of a cluster with commas. Set it for all processes with the role `worker` or `all`.',
  ),
  RELAY_NATS_STREAM: withDefault(
    streamName,
    'RELAY_USAGE',
    'Stream name; only Relay may publish to it. Subject of a row: `STREAM.ORGANIZATION_ID`. If the stream doesn’t exist, Relay creates it with a maximum age of 7 days.',
  ),
  RELAY_NATS_CREDENTIALS_FILE: optional(
    absolutePath,
    'Path of a NATS credentials file (`.creds`), instead of a user in `RELAY_NATS_URL`.',
  ),
  RELAY_METRICS_TOKEN: optional(
    token,
    'Bearer token for `/metrics`. At least 32 random characters. Without it, `/metrics` is available from this machine only.',
  ),
  RELAY_TRACES_URL: optional(
    tracesUrl,
    'OpenTelemetry receiver for request traces (OTLP over HTTP): `http://otel-collector:4318`. Default path: `/v1/traces`. Traces contain no prompts, responses or credentials. If not set, tracing is off.',
  ),
  RELAY_TRACES_HEADERS: optional(
    headerList,
    'Headers for the trace receiver, separated by commas: `authorization=Bearer%20abc`. Percent-encode spaces and commas.',
  ),
  RELAY_TRACES_SAMPLE_RATIO: withDefault(
    ratio,
    '0.01',
    'Share of requests without `traceparent` that Relay traces, 0 to 1. With `traceparent`, Relay follows the client’s sampling decision, for at most 100 client-sampled requests per second per process.',
  ),
  RELAY_LEDGER_RETENTION_DAYS: withDefault(
    integer(1, 36_500),
    '400',
    'Retention period of the ledger in days. Relay deletes older rows, one whole day at a time.',
  ),
  RELAY_DATABASE_POOL_MAX: withDefault(
    integer(1, 200),
    '10',
    'Maximum number of connections per process to `DATABASE_URL`, and again to `DATABASE_READ_URL` if it is set. Relay opens 1 more for notifications.',
  ),
  RELAY_CONFIG: optional(
    configPath,
    'Self-hosted: a configuration file (`relay.yaml`) that is applied at start, in the roles `all` and `platform`. The file then manages those resources. Relay doesn’t start with an invalid file.',
  ),
  RELAY_LOG_LEVEL: withDefault(
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'Log level: `debug`, `info`, `warn`, `error` or `silent`.',
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
  const faults = given('DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL', 'REDIS_URL').map(
    (name) =>
      `${name} is set, but \`relay start\` keeps everything in its data directory. Unset it, or use ` +
      '`relay serve`. To move the data, run `relay migrate --from DIR --to DATABASE_URL`.',
  );
  if (given('RELAY_SPOOL_DIR').length > 0)
    faults.push('RELAY_SPOOL_DIR is set, but `relay start` keeps usage in its data directory. Unset it.');
  const apart = given('RELAY_INFERENCE_URL', 'RELAY_CONTEXT_SIGNING_KEY', 'RELAY_CONTEXT_VERIFY_KEYS');
  for (const name of apart)
    faults.push(
      `${name} is set, which is for separate roles; \`relay start\` runs all roles in one process. Unset it, or use ` +
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
    faults.push('Set both RELAY_OIDC_ISSUER and RELAY_OIDC_CLIENT_ID, or neither.');
  faults.push(...mailFaults(environment), ...natsFaults(environment));
  const need = (...names: Optional[]) => {
    for (const name of names)
      if (environment[name] === null) faults.push(`${name} is missing. ${variables[name].description}`);
  };
  if (environment.RELAY_MODE === 'self_hosted') {
    const { RELAY_API_TOKEN: api, RELAY_ADMIN_TOKEN: admin } = environment;
    need('RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN');
    if ([api, admin].some((token) => token !== null && looksLikeApiKey(token)))
      faults.push('RELAY_API_TOKEN and RELAY_ADMIN_TOKEN must not begin with rly_, as API keys do.');
    const adminTokens = [admin, ...environment.RELAY_ADMIN_TOKEN_PREVIOUS];
    if ([api, ...environment.RELAY_API_TOKEN_PREVIOUS].some((each) => each && adminTokens.includes(each)))
      faults.push('RELAY_API_TOKEN and RELAY_ADMIN_TOKEN must differ.');
    // The scraper's token must not allow anything else.
    if (environment.RELAY_METRICS_TOKEN !== null && [api, admin].includes(environment.RELAY_METRICS_TOKEN))
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
    return ['Set both RELAY_SMTP_URL and RELAY_MAIL_FROM, or neither.'];
  if (server !== null && publicUrl === null)
    return ['RELAY_PUBLIC_URL is missing. Links in email point to it, so RELAY_SMTP_URL requires it.'];
  return [];
}

function natsFaults(environment: Environment): string[] {
  const { RELAY_NATS_URL: servers, RELAY_NATS_CREDENTIALS_FILE: credentials } = environment;
  if (credentials === null) return [];
  if (servers === null) return ['RELAY_NATS_CREDENTIALS_FILE needs RELAY_NATS_URL.'];
  if (servers.login !== null)
    return ['RELAY_NATS_URL contains a user, and RELAY_NATS_CREDENTIALS_FILE is set too. Use one of them.'];
  return [];
}

function verifyKeyFaults(environment: Environment, role: RoleName): string[] {
  const { RELAY_CONTEXT_VERIFY_KEYS: keys, RELAY_CONTEXT_SIGNING_KEY: signing } = environment;
  if (role === 'inference' && keys.length === 0)
    return [`RELAY_CONTEXT_VERIFY_KEYS is missing. ${variables.RELAY_CONTEXT_VERIFY_KEYS.description}`];
  if (signing !== null && keys.some((key) => key.equals(signing)))
    return ['RELAY_CONTEXT_VERIFY_KEYS contains the signing key. Set it to the matching public key.'];
  return [];
}
