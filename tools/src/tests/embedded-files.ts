/** Database tests of what the embedded PostgreSQL is most likely to do differently. Chosen to take less than a minute. */
export const embeddedFiles: readonly string[] = [
  'server/src/store/postgres/isolation.db.test.ts',
  'server/src/store/postgres/schema.db.test.ts',
  'server/src/store/ledger/ledger.db.test.ts',
  'server/src/store/ledger/rollups/rollups.db.test.ts',
  'server/src/store/configuration/config-version.db.test.ts',
  'server/src/metering/sinks/follow-ledger.db.test.ts',
  'server/src/metering/sinks/postgres-ledger.db.test.ts',
  'server/src/management/isolation.db.test.ts',
  'server/src/management/api-keys/api-keys.db.test.ts',
  'server/src/management/stats/stats.db.test.ts',
];
