export const suiteNames = ['unit', 'db'] as const;
export type SuiteName = (typeof suiteNames)[number];

/**
 * `unit` is every test that needs no server, `db` every test on real PostgreSQL and Redis. The black-box
 * suites have their own runner. A filter keeps the files whose path contains it.
 */
export function selectFiles(
  paths: readonly string[],
  suite: SuiteName,
  filters: readonly string[],
): readonly string[] {
  const ofSuite = paths.filter((path) => {
    if (!path.endsWith('.test.ts') || path.startsWith('system-tests/')) return false;
    return path.endsWith('.db.test.ts') === (suite === 'db');
  });
  if (filters.length === 0) return ofSuite;
  return ofSuite.filter((path) => filters.some((filter) => path.includes(filter)));
}
