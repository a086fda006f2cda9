import { capitalized } from '@relay/contract/words';
import { Command } from 'commander';
import { ApiError } from '../api/api-error.ts';
import { type Api, createApi, dataOf } from '../api/client.ts';
import { exitCodes, type ProgramError, usageError } from '../kit/program-error.ts';
import { ask, askHidden, canAsk } from '../kit/prompt.ts';
import { readStdin } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { serverUrl } from '../session/connection.ts';
import { type Context, contextsPath, readContexts, writeContexts } from '../session/contexts.ts';

interface LoginOptions {
  readonly server?: string;
  readonly tokenStdin?: true;
  readonly context?: string;
}

const LOCAL_SERVER = 'http://127.0.0.1:8080';

type Slot = 'key' | 'api_token' | 'admin_token';

const slotNames: Readonly<Record<Slot, string>> = {
  key: 'API key',
  api_token: 'API token (inference)',
  admin_token: 'admin token (management)',
};

export function loginCommand(surroundings: Surroundings): Command {
  return new Command('login')
    .description(
      'Save a server and its token for the other commands. A self-hosted deployment without accounts has 2 tokens: enter both',
    )
    .argument('[url]', 'address of the Relay server (default: prompts for it)')
    .option('--server <url>', 'same as [url]')
    .option('--token-stdin', 'read tokens from standard input, one per line')
    .option('--context <name>', 'name of the login context (default: the server’s host)')
    .action((url: string | undefined, options: LoginOptions) =>
      login(surroundings, url === undefined ? options : { ...options, server: url }),
    );
}

async function login(surroundings: Surroundings, options: LoginOptions): Promise<void> {
  const isAsked = canAsk(surroundings);
  const server = await givenServer(surroundings, options);
  warnAboutPlainHttp(surroundings, server);
  const isStdin = options.tokenStdin === true;
  if (!isStdin && !isAsked) {
    throw usageError(
      'Relay can’t prompt for the token: this is not a terminal.',
      'Pipe it in and add --token-stdin.',
    );
  }
  const found: Partial<Record<Slot, string>> = {};
  const tokens = isStdin
    ? linesOf(await readStdin(surroundings))
    : [await askHidden(surroundings, 'Token (hidden): ')];
  if (tokens.length === 0 || tokens[0] === '') {
    throw usageError(
      'No token provided.',
      'Create an API key in the console, or use the tokens of the deployment (RELAY_ADMIN_TOKEN, RELAY_API_TOKEN).',
    );
  }
  for (const token of tokens) found[await slotOf(surroundings, server, token)] = token;
  const missing = missingSlot(found);
  if (missing !== null && !isStdin) {
    const second = await askHidden(surroundings, `${capitalized(slotNames[missing])}, or Enter to skip: `);
    if (second !== '') found[await slotOf(surroundings, server, second)] = second;
  }
  const name = options.context ?? new URL(server).host;
  const context = await keep(surroundings, name, server, found);
  const held = slots.filter((slot) => context[slot] !== undefined).map((slot) => slotNames[slot]);
  surroundings.stderr.write(`Logged in to ${server} (context ${name}) with ${held.join(' and ')}.\n`);
  const stillMissing = missingSlot(context);
  if (stillMissing !== null) {
    surroundings.stderr.write(`No ${slotNames[stillMissing]} yet. To add it, run: relay login ${server}\n`);
  }
  surroundings.stderr.write(`Saved in ${contextsPath(surroundings)}, readable only by you.\n`);
}

const slots = ['key', 'api_token', 'admin_token'] as const satisfies readonly Slot[];

async function givenServer(surroundings: Surroundings, options: LoginOptions): Promise<string> {
  const given = options.server ?? (surroundings.env['RELAY_SERVER'] || undefined);
  if (given !== undefined) return serverUrl(given);
  if (options.tokenStdin === true || !canAsk(surroundings)) {
    throw usageError('No server specified.', 'Add its address. Run: `relay login URL --token-stdin`');
  }
  const typed = await ask(surroundings, `Server (Enter for ${LOCAL_SERVER}): `);
  return serverUrl(typed === '' ? LOCAL_SERVER : typed);
}

/** Finds by trying which API accepts the token; only keys are recognizable, by their prefix rly_. */
async function slotOf(surroundings: Surroundings, server: string, token: string): Promise<Slot> {
  const api = createApi(surroundings, {
    server,
    contextName: null,
    tokens: { management: token, inference: token },
  });
  const refusal = await refusalOf(() => dataOf(api.management.GET('/api/relay/capabilities')));
  if (refusal === null) return token.startsWith('rly_') ? 'key' : 'admin_token';
  const isInference = (await refusalOf(() => callModels(api))) === null;
  if (isInference) return token.startsWith('rly_') ? 'key' : 'api_token';
  throw refusal;
}

function callModels(api: Api): Promise<unknown> {
  return dataOf(api.inference.GET('/models'));
}

/** Null when the API accepts the token. Throws every error other than a rejected token. */
async function refusalOf(call: () => Promise<unknown>): Promise<ProgramError | null> {
  try {
    await call();
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.exitCode === exitCodes.auth) return error;
    throw error;
  }
}

/** Replaces the token of the same kind. Keeps the other one if the server is the same. */
async function keep(
  surroundings: Surroundings,
  name: string,
  server: string,
  found: Partial<Record<Slot, string>>,
): Promise<Context> {
  const before = await readContexts(surroundings);
  const old = before.contexts[name];
  const context: Context = { ...(old?.server === server ? old : {}), server, ...found };
  await writeContexts(surroundings, {
    current: name,
    contexts: { ...before.contexts, [name]: context },
  });
  return context;
}

function missingSlot(found: Partial<Record<Slot, string>>): Slot | null {
  if (found.key !== undefined) return null;
  if (found.api_token === undefined) return 'api_token';
  return found.admin_token === undefined ? 'admin_token' : null;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function warnAboutPlainHttp({ stderr }: Surroundings, server: string): void {
  const { protocol, hostname } = new URL(server);
  if (protocol === 'https:' || hostname === 'localhost' || /^(127\.|\[::1\]$)/.test(hostname)) return;
  stderr.write(`warning: ${server} is not encrypted; others on the network can read the token. Use https.\n`);
}
