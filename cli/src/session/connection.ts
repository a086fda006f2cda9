import type { Command } from 'commander';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { type Context, type Contexts, readContexts } from './contexts.ts';
import { findStarted, serverOfEnvironment } from './local-server.ts';

export type Plane = 'management' | 'inference';

export interface ConnectionOptions {
  readonly context?: string;
  readonly server?: string;
}

/** The server and the tokens of its APIs. */
export interface Connection {
  readonly server: string;
  readonly contextName: string | null;
  readonly tokens: Readonly<Record<Plane, string | null>>;
}

export function withConnection(command: Command): Command {
  return command
    .option('--context <name>', 'login context (default: the current one)')
    .option('--server <url>', 'server address; a context’s tokens are only sent to its own server');
}

/** Options override the environment, which overrides login contexts; without any, a server of this machine. */
export async function resolveConnection(
  surroundings: Surroundings,
  options: ConnectionOptions,
): Promise<Connection> {
  const { env } = surroundings;
  const { contexts, current } = await readContexts(surroundings);
  const named = options.context ?? (env['RELAY_CONTEXT'] || undefined);
  const name = named ?? current ?? undefined;
  const context = name === undefined ? undefined : contexts[name];
  if (named !== undefined && context === undefined) throw unknownContext(named, contexts);
  // An explicitly named context overrides the environment.
  const given =
    options.server ?? (options.context === undefined ? env['RELAY_SERVER'] || undefined : undefined);
  const address = given ?? context?.server;
  if (address === undefined && name !== undefined) throw unknownContext(name, contexts);
  if (address === undefined) return connectLocally(surroundings);
  const server = serverUrl(address);
  const isOfContext = context !== undefined && context.server === server;
  const fromContext = isOfContext ? tokensOf(context) : NO_TOKENS;
  const wantsEnvironment = options.context === undefined;
  const fromEnvironment = wantsEnvironment ? environmentTokens(env, given !== undefined) : NO_TOKENS;
  return {
    server,
    contextName: isOfContext ? (name ?? null) : null,
    tokens: {
      management: fromEnvironment.management ?? fromContext.management,
      inference: fromEnvironment.inference ?? fromContext.inference,
    },
  };
}

function unknownContext(name: string, contexts: Contexts['contexts']): ProgramError {
  const known = Object.keys(contexts);
  return new ProgramError(`No login context is named "${name}".`, exitCodes.notFound, {
    fix:
      known.length === 0
        ? 'Run: `relay login`'
        : `Use one of ${known.join(', ')}, or create it. Run: \`relay login --context ${name}\``,
  });
}

async function connectLocally(surroundings: Surroundings): Promise<Connection> {
  const found = (await findStarted(surroundings)) ?? serverOfEnvironment(surroundings);
  if (found === null)
    throw usageError(
      'No server is set.',
      'Log in, add --server URL, or run this in the folder where `relay start` runs. Run: `relay login URL`',
    );
  const own = surroundings.env['RELAY_TOKEN'] || null;
  return {
    server: serverUrl(found.url),
    contextName: null,
    tokens: { management: own ?? found.adminToken, inference: own ?? found.apiToken },
  };
}

/** The token for an API, or an error that names the missing one and its source. */
export function tokenFor({ server, contextName, tokens }: Connection, plane: Plane): string {
  const token = tokens[plane];
  if (token !== null) return token;
  const other = plane === 'management' ? tokens.inference : tokens.management;
  const [kind, paths, variable] =
    plane === 'management'
      ? ['admin token', 'management (/api)', 'RELAY_ADMIN_TOKEN']
      : ['API token', 'inference (/v1)', 'RELAY_API_TOKEN'];
  const place = contextName === null ? server : `context ${contextName} (${server})`;
  throw new ProgramError(
    other === null ? `No token for ${place}.` : `No ${kind} for ${place}.`,
    exitCodes.auth,
    {
      why:
        other === null
          ? undefined
          : `A self-hosted deployment has 2 tokens, and the saved one doesn't allow ${paths}.`,
      fix: `Log in with the ${kind} (${variable} of the deployment) or an API key, or set RELAY_TOKEN. Run: \`relay login ${server}\``,
    },
  );
}

/** The URL as scheme, host and port. Also accepts the inference base URL, which ends in /v1. */
export function serverUrl(text: string): string {
  const trimmed = text.trim();
  let url: URL;
  try {
    url = new URL(trimmed);
  } catch {
    throw usageError(`"${trimmed}" is not a valid address.`, 'Use a URL such as https://relay.example.com.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw usageError(`"${trimmed}" is not an http or https address.`, `Use http://${trimmed}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError(
      'The address contains a password.',
      'Remove it, and enter the token when asked. Run: `relay login URL`',
    );
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url.origin + path;
}

const NO_TOKENS = { management: null, inference: null };

function tokensOf({ key, api_token, admin_token }: Context): Readonly<Record<Plane, string | null>> {
  return { management: admin_token ?? key ?? null, inference: api_token ?? key ?? null };
}

/**
 * RELAY_TOKEN applies to any API. The other two are settings of a deployment: they go to an explicit server or,
 * without any server or login context, to the one on this machine. They must not reach the server of a login context.
 */
function environmentTokens(
  env: Surroundings['env'],
  isServerGiven: boolean,
): Readonly<Record<Plane, string | null>> {
  const own = env['RELAY_TOKEN'] || null;
  if (own !== null) return { management: own, inference: own };
  if (!isServerGiven) return NO_TOKENS;
  return { management: env['RELAY_ADMIN_TOKEN'] || null, inference: env['RELAY_API_TOKEN'] || null };
}
