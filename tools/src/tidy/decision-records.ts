import type { Finding, Tree } from './tree.ts';

const SECTIONS = ['## Context', '## Decision', '## Drawbacks', '## Alternatives'];

/** Decision records are numbered without gap or double, titled by their number, and say all four things. */
export function decisionRecords(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  const records = tree.files
    .filter(({ path }) => path.startsWith('docs/adr/') && path !== 'docs/adr/README.md')
    .toSorted((a, b) => a.path.localeCompare(b.path));
  for (const [index, { path, text }] of records.entries()) {
    const number = /^docs\/adr\/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1];
    const expected = String(index + 1).padStart(4, '0');
    if (number !== expected) {
      findings.push({ path, line: null, message: `should be number ${expected} of an unbroken row` });
      continue;
    }
    if (!text.startsWith(`# ${number}. `)) {
      findings.push({ path, line: 1, message: `does not open with "# ${number}. "` });
    }
    for (const section of SECTIONS) {
      if (!text.includes(`\n${section}\n`))
        findings.push({ path, line: null, message: `lacks "${section}"` });
    }
  }
  return findings;
}
