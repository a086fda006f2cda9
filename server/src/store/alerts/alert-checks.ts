import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';

/** More of one organization wait for the next turn. */
const CHECKS_MAX = 2_000;

/** What of one organization must be compared with its thresholds. */
export interface AlertCheck {
  readonly organizationId: string;
  /** Users, keys and resources with new usage, and limits that were changed. */
  readonly subjectIds: readonly string[];
  /** Each in an hour with new usage. */
  readonly timesMs: readonly number[];
}

/** Takes what is due of the organization that has waited longest, until the transaction ends. Null when nothing is due. */
export async function takeAlertCheck(tx: Kysely<Database>): Promise<AlertCheck | null> {
  const { rows } = await sql<{ organization_id: string; subject_ids: string[]; times_ms: number[] }>`
    with first as (
      select organization_id from alert_checks where due_at <= now()
      order by due_at limit 1 for update skip locked
    ), taken as (
      delete from alert_checks where id = any (array(
        select id from alert_checks where organization_id = (select organization_id from first)
        limit ${sql.lit(CHECKS_MAX)} for update skip locked
      )) returning organization_id, subject_ids, times_ms
    )
    select organization_id, subject_ids, times_ms from taken`.execute(tx);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    organizationId: first.organization_id,
    subjectIds: [...new Set(rows.flatMap(({ subject_ids }) => subject_ids))],
    timesMs: [...new Set(rows.flatMap(({ times_ms }) => times_ms))],
  };
}

/** Lets the other organizations go first after a failure. */
export async function postponeAlertChecks(
  db: Kysely<Database>,
  organizationId: string,
  delayMs: number,
): Promise<void> {
  await sql`update alert_checks set due_at = now() + make_interval(secs => ${delayMs / 1_000})
    where organization_id = ${organizationId}`.execute(db);
}
