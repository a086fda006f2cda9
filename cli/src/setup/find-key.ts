import { type Api, dataOf } from '../api/client.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import type { Client } from './client.ts';

/** From the option or the environment. */
export function givenKey({ env }: Pick<Surroundings, 'env'>, option: string | undefined): string | null {
  const key = (option ?? env['RELAY_API_KEY'] ?? '').trim();
  if (key === '') return null;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw usageError(
    'The key has spaces or other characters that no key has.',
    'check that you copied it whole',
  );
}

/** A key named after the client; needs a login that may create keys. */
export async function createKey(surroundings: Surroundings, api: Api, client: Client): Promise<string> {
  if (api.connection.tokens.management === null) {
    throw new ProgramError('No key is known.', exitCodes.auth, {
      fix: 'give --key, set RELAY_API_KEY, or run `relay login`, so that a key can be created',
    });
  }
  const body = { name: client.title, scopes: ['relay:request'], expires_at: null };
  const { api_key, key } = await dataOf(api.management.POST('/api/account/api-keys', { body }));
  surroundings.stderr.write(
    `Created the key ${key.name} (${key.key_prefix}…). \`relay keys revoke ${key.key_prefix}\` revokes it.\n`,
  );
  return api_key;
}
