import { type Api, dataOf } from '../api/client.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import type { Client } from './client.ts';

/** From the option or the environment. */
export function givenKey({ env }: Pick<Surroundings, 'env'>, option: string | undefined): string | null {
  const key = (option ?? env['RELAY_API_KEY'] ?? '').trim();
  if (key === '') return null;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw usageError('The key contains invalid characters.', 'Check you copied the full key.');
}

/** A key named after the client; needs a login that may create keys. */
export async function createKey(surroundings: Surroundings, api: Api, client: Client): Promise<string> {
  if (api.connection.tokens.management === null) {
    throw new ProgramError('No API key.', exitCodes.auth, {
      fix: 'Add --key, set RELAY_API_KEY, or log in so that Relay can create one. Run: `relay login`',
    });
  }
  const body = { name: client.title, scopes: ['relay:request'], expires_at: null };
  const { api_key, key } = await dataOf(api.management.POST('/api/account/api-keys', { body }));
  surroundings.stderr.write(
    `Created key ${key.name} (${key.key_prefix}…). To revoke it, run: relay keys revoke ${key.key_prefix}\n`,
  );
  return api_key;
}
