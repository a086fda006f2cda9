import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisionRecords } from './decision-records.ts';
import { treeOf } from './tree.ts';

const body = '\n## Context\n\n## Decision\n\n## Drawbacks\n\n## Alternatives\n';

test('records numbered in an unbroken row with all sections are accepted', () => {
  const tree = treeOf({
    'docs/adr/README.md': '',
    'docs/adr/0001-one.md': `# 0001. One\n${body}`,
    'docs/adr/0002-two.md': `# 0002. Two\n${body}`,
  });
  assert.deepEqual(decisionRecords(tree), []);
});

test('a gap and a double number are refused', () => {
  const gap = treeOf({ 'docs/adr/0002-two.md': `# 0002. Two\n${body}` });
  assert.equal(decisionRecords(gap).length, 1);
  const double = treeOf({
    'docs/adr/0001-a.md': `# 0001. A\n${body}`,
    'docs/adr/0001-b.md': `# 0001. B\n${body}`,
  });
  assert.equal(decisionRecords(double).length, 1);
});

test('a record without drawbacks or with another title is refused', () => {
  const tree = treeOf({ 'docs/adr/0001-one.md': `# One\n${body.replace('## Drawbacks', '')}` });
  assert.equal(decisionRecords(tree).length, 2);
});
