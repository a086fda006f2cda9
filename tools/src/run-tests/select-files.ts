export const suiteNames = ['unit', 'db', 'embedded'] as const;
export type SuiteName = (typeof suiteNames)[number];

/** Of `db`, what the embedded PostgreSQL is most likely to do differently. Chosen to take less than a minute. */
const onEmbedded: readonly string[] = [
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

/**
 * `unit` is every test that needs no server, `db` every test on real PostgreSQL and Redis, `embedded` some of those on the
 * embedded PostgreSQL. The black-box suites have their own runner. A filter keeps the files whose path contains it.
 */
export function selectFiles(
  paths: readonly string[],
  suite: SuiteName,
  filters: readonly string[],
): readonly string[] {
  const missing = suite === 'embedded' ? onEmbedded.filter((path) => !paths.includes(path)) : [];
  if (missing.length > 0) throw new Error(`these tests no longer exist: ${missing.join(', ')}`);
  const ofSuite = paths.filter((path) => {
    if (!path.endsWith('.test.ts')) return false;
    if (suite === 'embedded') return onEmbedded.includes(path);
    return path.endsWith('.db.test.ts') === (suite === 'db');
  });
  if (filters.length === 0) return ofSuite;
  return ofSuite.filter((path) => filters.some((filter) => path.includes(filter)));
}

/** Tests of the tools compile and lint copies of the tree. Started last, they would leave the other core idle. */
export function longestFirst(files: readonly string[]): readonly string[] {
  const isLong = (path: string) => path.startsWith('tools/');
  return [...files.filter(isLong), ...files.filter((path) => !isLong(path))];
}
