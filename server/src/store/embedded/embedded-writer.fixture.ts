import { sql } from 'kysely';
import { systemClock } from '../../kit/clock.ts';
import { silentLog } from '../postgres/migrated-database.fixture.ts';
import { createEmbeddedDatabase } from './embedded-postgres.ts';

/** For tests: a process of its own that writes one row after the other and tells of each that is committed. */
const database = await createEmbeddedDatabase({
  directory: process.argv[2] ?? '',
  log: silentLog,
  clock: systemClock,
});
for (;;) {
  const { rows } = await sql<{ id: number }>`
    insert into written select coalesce(max(id), 0) + 1 from written returning id`.execute(database.db);
  process.send?.(rows[0]?.id);
}
