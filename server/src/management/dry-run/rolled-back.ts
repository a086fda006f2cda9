import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { lockConfiguration } from '../resources/configuration-lock.ts';
import type { ManagementDeps } from '../resources/deps.ts';

/** Ends the transaction: what was written in it never existed. */
class RolledBack<T> extends Error {
  readonly found: T;

  constructor(found: T) {
    super('rolled back');
    this.found = found;
  }
}

/** What the work finds in a transaction that is always rolled back. It holds the configuration lock as a save would. */
export async function rolledBack<T>(
  { ofOrganization }: Pick<ManagementDeps, 'ofOrganization'>,
  organizationId: string,
  lock: 'shared' | 'alone',
  work: (tx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  try {
    return await ofOrganization(organizationId)
      .transaction()
      .execute(async (tx): Promise<never> => {
        await lockConfiguration(tx, organizationId, lock);
        throw new RolledBack(await work(tx));
      });
  } catch (error) {
    if (error instanceof RolledBack) return error.found;
    throw error;
  }
}
