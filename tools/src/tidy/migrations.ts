import type { Finding, Tree } from './tree.ts';

const NAME = /^(\d{14})-[a-z]+(-[a-z0-9]+)+\.sql$/;

/** Migrations are `<timestamp>-<verb-noun>.sql`, so that they sort by age and no two share a place. */
export function migrationNames(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, string>();
  for (const { path } of tree.files) {
    const name = /^server\/src\/store\/.*migrations\/([^/]+\.sql)$/.exec(path)?.[1];
    if (name === undefined) continue;
    const timestamp = NAME.exec(name)?.[1];
    if (timestamp === undefined) {
      findings.push({ path, line: null, message: 'is not named <yyyymmddhhmmss>-<verb-noun>.sql' });
      continue;
    }
    const twin = seen.get(timestamp);
    if (twin !== undefined) findings.push({ path, line: null, message: `has the same timestamp as ${twin}` });
    seen.set(timestamp, path);
  }
  return findings;
}
