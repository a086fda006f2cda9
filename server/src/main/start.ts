import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createSignInCodes } from '../edge/sign-in-codes.ts';
import { demandFree } from '../http/listener.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { lockDataDirectory } from '../store/embedded/data-directory-lock.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { withLoopbackUpstreams } from './loopback-upstreams.ts';
import { type RunningServer, serve } from './serve.ts';
import { type KeptSecrets, keepSecrets, noteShown, randomSecrets } from './start-secrets.ts';

export interface StartOptions {
  /** The environment. Secrets that it lacks come from the data directory. */
  readonly source: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Called before each part of the start that takes time. */
  readonly onStep?: (step: StartStep) => void;
}

export type StartStep = 'creating_database' | 'opening_database';

export interface StartedServer extends RunningServer {
  /** Where clients on this machine reach it. */
  readonly url: string;
  readonly directory: string;
  readonly secretsPath: string;
  /** The tokens from the environment or the data directory; null in hosted mode. */
  readonly tokens: { readonly api: string; readonly admin: string } | null;
  /** Which tokens were created and not printed yet. */
  readonly newTokens: { readonly api: boolean; readonly admin: boolean };
  /** Signs in once, as the admin token does, when the console is opened with it in its link. */
  newSignInCode(): string;
  /** Call after printing the tokens. */
  noteShown(): Promise<void>;
}

/**
 * Runs all roles in this process, with an embedded PostgreSQL in one directory and live state in memory. Throws
 * `EnvironmentError`, `DirectoryInUseError` and `SecretsError` with messages for the operator.
 */
export async function start(options: StartOptions): Promise<StartedServer> {
  const defaults = { RELAY_LOG_LEVEL: 'warn', RELAY_LAME_DUCK_MS: '0' };
  const source: Record<string, string> = { ...defaults, ...onlySet(options.source) };
  // Report all invalid settings before creating anything.
  readEnvironment({ ...randomSecrets(), ...source }, 'all', 'embedded');
  const { directory } = options;
  const lock = await lockDataDirectory(directory);
  try {
    const isUsed = existsSync(join(directory, 'postgres'));
    const secrets = await keepSecrets(directory, {
      isGiven: (name) => source[name] !== undefined,
      isUsed,
      hasTokens: source['RELAY_MODE'] !== 'hosted',
    });
    const given = readEnvironment({ ...secrets.values, ...source }, 'all', 'embedded');
    const environment = withLoopbackUpstreams(addressed(given, options));
    // Opening the stores takes seconds, and would be in vain.
    await demandFree(environment.RELAY_HTTP_ADDR);
    options.onStep?.(isUsed ? 'opening_database' : 'creating_database');
    const log = createLog(environment.RELAY_LOG_LEVEL, process.stderr);
    const signInCodes = createSignInCodes(systemClock);
    const dataDirectory = { path: directory, lock };
    const keptAuthSecret = secrets.values.RELAY_AUTH_SECRET;
    const server = await serve(environment, 'all', { dataDirectory, log, signInCodes, keptAuthSecret });
    return {
      ...describe(environment, secrets, directory),
      newSignInCode: signInCodes.issue,
      address: server.address,
      async stop() {
        const stopped = await server.stop();
        await lock.release();
        return stopped;
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function describe(environment: Environment, secrets: KeptSecrets, directory: string) {
  const { RELAY_API_TOKEN: api, RELAY_ADMIN_TOKEN: admin } = environment;
  const isNew = (name: 'RELAY_API_TOKEN' | 'RELAY_ADMIN_TOKEN') =>
    !secrets.wereShown && environment[name] === secrets.values[name];
  return {
    url: localUrl(environment.RELAY_HTTP_ADDR),
    directory,
    secretsPath: secrets.path,
    tokens: api === null || admin === null ? null : { api, admin },
    newTokens: { api: isNew('RELAY_API_TOKEN'), admin: isNew('RELAY_ADMIN_TOKEN') },
    noteShown: () => noteShown(secrets),
  };
}

/** An empty value counts as not set, as in `readEnvironment`. */
function onlySet(source: StartOptions['source']): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(source))
    if (value !== undefined && value.trim() !== '') set[name] = value;
  return set;
}

function addressed(environment: Environment, { host, port }: StartOptions): Environment {
  const { RELAY_HTTP_ADDR: given } = environment;
  return { ...environment, RELAY_HTTP_ADDR: { host: host ?? given.host, port: port ?? given.port } };
}

function localUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
