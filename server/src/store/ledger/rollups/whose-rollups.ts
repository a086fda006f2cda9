import { type RawBuilder, sql } from 'kysely';

/** The rollups of all requests, or with a user id, of that user's. Every request is in both families, so one of them is read. */
export function whoseRollups(rollups: string, userId: string | undefined): RawBuilder<boolean> {
  return userId === undefined
    ? sql`${sql.ref(`${rollups}.family`)} = 'resource'`
    : callerRollups(rollups, userId);
}

/** The same requests with their users and keys. */
export function callerRollups(rollups: string, userId: string | undefined): RawBuilder<boolean> {
  const family = sql.ref(`${rollups}.family`);
  return userId === undefined
    ? sql`${family} = 'caller'`
    : sql`${family} = 'caller' and ${sql.ref(`${rollups}.user_id`)} = ${userId}`;
}
