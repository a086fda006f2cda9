import type { Command } from 'commander';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { type Context, readContexts } from './contexts.ts';

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
    .option('--context <name>', 'a login context other than the current one')
    .option('--server <url>', 'another server; tokens of a context are only ever sent to its own');
}

/** Options override the environment, which overrides login contexts. */
export async function resolveConnection(
  surroundings: Surroundings,
  options: ConnectionOptions,
): Promise<Connection> {
  const { env } = surroundings;
  const { contexts, current } = await readContexts(surroundings);
  const name = options.context ?? (env['RELAY_CONTEXT'] || current);
  const context = name === null || name === undefined ? undefined : contexts[name];
  if (options.context !== undefined && context === undefined) {
    const known = Object.keys(contexts);
    throw new ProgramError(`There is no login context called ${options.context}.`, exitCodes.notFound, {
      fix:
        known.length === 0
          ? 'run `relay login`'
          : `use one of ${known.join(', ')}, or run \`relay login --context ${options.context}\``,
    });
  }
  // An explicitly named context overrides the environment.
  const given =
    options.server ?? (options.context === undefined ? env['RELAY_SERVER'] || undefined : undefined);
  const address = given ?? context?.server;
  if (address === undefined) {
    throw usageError(
      'No server is known.',
      'run `relay login`, or set RELAY_SERVER and RELAY_TOKEN, or give --server',
    );
  }
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

/** The token for an API, or an error that names the missing one and its source. */
export function tokenFor({ server, contextName, tokens }: Connection, plane: Plane): string {
  const token = tokens[plane];
  if (token !== null) return token;
  const other = plane === 'management' ? tokens.inference : tokens.management;
  const [kind, paths, variable] =
    plane === 'management'
      ? ['admin token', 'below /api', 'RELAY_ADMIN_TOKEN']
      : ['API token', 'below /v1', 'RELAY_API_TOKEN'];
  const place = contextName === null ? server : `the context ${contextName} (${server})`;
  throw new ProgramError(
    other === null ? `No token is known for ${place}.` : `The ${kind} is missing for ${place}.`,
    exitCodes.auth,
    {
      why:
        other === null
          ? undefined
          : `A self-hosted deployment has two tokens, and the one that is known does not open what is ${paths}.`,
      fix: `run \`relay login --server ${server}\` with the ${kind} (${variable} of the deployment) or a User API key, or set RELAY_TOKEN`,
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
    throw usageError(`"${trimmed}" is not an address.`, 'write it like https://relay.example.com');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw usageError(`"${trimmed}" is not an http or https address.`, `write it like http://${trimmed}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError('The address must not carry a password.', 'give the token to `relay login` instead');
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url.origin + path;
}

const NO_TOKENS = { management: null, inference: null };

function tokensOf({ key, api_token, admin_token }: Context): Readonly<Record<Plane, string | null>> {
  return { management: admin_token ?? key ?? null, inference: api_token ?? key ?? null };
}

/**
 * RELAY_TOKEN applies to any API. The other two are settings of a deployment, so they are used only with an
 * explicit server: they must not reach the server of a login context.
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
