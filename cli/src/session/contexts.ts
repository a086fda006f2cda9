import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { parseJson, readIfPresent } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { isObject, messageOf } from '../kit/values.ts';

/** A server and its tokens. A user API key works for both APIs, each token for one. */
export interface Context {
  readonly server: string;
  readonly key?: string;
  readonly api_token?: string;
  readonly admin_token?: string;
}

export interface Contexts {
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, Context>>;
}

const NONE: Contexts = { current: null, contexts: {} };

export function contextsPath({ env, home }: Pick<Surroundings, 'env' | 'home'>): string {
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'relay', 'contexts.json');
}

export async function readContexts(surroundings: Surroundings): Promise<Contexts> {
  const path = contextsPath(surroundings);
  const text = await readIfPresent(path);
  if (text === null) return NONE;
  if (((await stat(path)).mode & 0o077) !== 0) {
    surroundings.stderr.write(`warning: other users can read ${path}. Run: chmod 600 ${path}\n`);
  }
  const value = parseJson(text, path);
  if (!isContexts(value)) {
    throw new ProgramError(`${path} is not a valid login context file.`, exitCodes.error, {
      fix: 'Delete it and log in again. Run: `relay login`',
    });
  }
  return value;
}

/** Written to a temporary file and renamed, so that the file is never partial or readable by others. */
export async function writeContexts(surroundings: Surroundings, contexts: Contexts): Promise<void> {
  const path = contextsPath(surroundings);
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(aside, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(contexts, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(aside, 0o600);
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw new ProgramError(`Can't write ${path}: ${messageOf(error)}`);
  }
}

function isContexts(value: unknown): value is Contexts {
  if (!isObject(value) || !isObject(value['contexts'])) return false;
  return Object.values(value['contexts']).every(
    (each) => isObject(each) && typeof each['server'] === 'string',
  );
}
