import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { parseJson, readIfPresent } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { isObject } from '../kit/values.ts';

/** A server of this machine, with the tokens of its environment or its data directory. */
export interface LocalServer {
  readonly url: string;
  readonly adminToken: string | null;
  readonly apiToken: string | null;
}

const DEFAULT_PORT = 8080;

/** Lets later commands find the server that `relay start` runs with this data directory. */
export async function noteLocalServer(directory: string, url: string): Promise<void> {
  const path = join(directory, 'server.json');
  await writeFile(`${path}.new`, `${JSON.stringify({ url })}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Removes the note once the server has stopped, unless another start has replaced it. */
export async function forgetLocalServer(directory: string, url: string): Promise<void> {
  const path = join(directory, 'server.json');
  const noted = await readObject(path);
  if (noted['url'] === url) await rm(path, { force: true });
}

/** The server of the data directory; null if none was started there. */
export async function findStarted(
  surroundings: Pick<Surroundings, 'env' | 'cwd'>,
  dataDirectory?: string,
): Promise<LocalServer | null> {
  const directory = dataDirectoryOf(dataDirectory, surroundings);
  const { url } = await readObject(join(directory, 'server.json'));
  // A file must not direct tokens of the environment to another machine.
  if (typeof url !== 'string' || !isLoopback(url)) return null;
  const secrets = await readObject(join(directory, 'secrets.json'));
  const tokenOf = (name: string) => surroundings.env[name] || textOf(secrets[name]);
  return { url, adminToken: tokenOf('RELAY_ADMIN_TOKEN'), apiToken: tokenOf('RELAY_API_TOKEN') };
}

/** The server of a data directory that a user chose, on any address, with the tokens of that directory only. */
export async function findStartedIn(directory: string): Promise<LocalServer | null> {
  const { url } = await readObject(join(directory, 'server.json'));
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const secrets = await readObject(join(directory, 'secrets.json'));
  return {
    url,
    adminToken: textOf(secrets['RELAY_ADMIN_TOKEN']),
    apiToken: textOf(secrets['RELAY_API_TOKEN']),
  };
}

/**
 * The server that has the tokens of this environment, on this machine; null without tokens, or if that server
 * listens on an address that is not this machine's loopback.
 */
export function serverOfEnvironment({ env }: Pick<Surroundings, 'env'>): LocalServer | null {
  const [adminToken, apiToken] = [env['RELAY_ADMIN_TOKEN'] || null, env['RELAY_API_TOKEN'] || null];
  if (adminToken === null && apiToken === null) return null;
  const url = loopbackUrl(env['RELAY_HTTP_ADDR'] || `127.0.0.1:${DEFAULT_PORT}`);
  return url === null ? null : { url, adminToken, apiToken };
}

async function readObject(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readIfPresent(path);
  const value = text === null ? null : parseJson(text, path);
  return isObject(value) ? value : {};
}

/** Where the server that listens on host:port answers on this machine; null for the address of an interface. */
function loopbackUrl(listen: string): string | null {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(listen) ?? [];
  if (port === '') return null;
  if (['', '0.0.0.0', '[::]', '*'].includes(host)) return `http://127.0.0.1:${port}`;
  const url = `http://${host}:${port}`;
  return isLoopback(url) ? url : null;
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(new URL(url).hostname);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
