import type { Kysely } from 'kysely';
import type { Database } from '../postgres/schema.ts';

/** Which deployment a store belongs to. */
export interface DeploymentIdentity {
  /** Made once, by the migration that created its table. */
  readonly id: string;
  /** Where its database was when the store was marked, for people who compare two of them. Never compared. */
  readonly database: string;
}

/** The mark as every store keeps it. */
export function markOf({ id, database }: DeploymentIdentity): string {
  return `${id} ${database}`;
}

export function ownerIn(mark: string): DeploymentIdentity {
  const [id = '', ...database] = mark.trim().split(' ');
  return { id, database: database.join(' ') };
}

export async function readDeploymentId(db: Kysely<Database>): Promise<string> {
  const { id } = await db.selectFrom('deployment').select('id').executeTakeFirstOrThrow();
  return id;
}

/** What an operator needs to tell the two apart. `store` begins the sentence, such as `Redis (REDIS_URL)`. */
export function foreignMessage(store: string, owner: DeploymentIdentity, own: DeploymentIdentity): string {
  return `${store} belongs to another deployment, ${named(owner)}; this one is ${named(own)}. On one store, two deployments would take each other’s usage.`;
}

function named({ id, database }: DeploymentIdentity): string {
  return database === '' ? id : `${id} (database ${database})`;
}
