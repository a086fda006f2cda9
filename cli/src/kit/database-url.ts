import type { Surroundings } from './surroundings.ts';

/** PostgreSQL itself, because commands need a session of their own. Empty without one. */
export function databaseUrlOf({ env }: Pick<Surroundings, 'env'>): string {
  return env['DATABASE_DIRECT_URL']?.trim() || (env['DATABASE_URL']?.trim() ?? '');
}
