import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentLinks } from './document-links.ts';
import { headingAnchors } from './heading-anchors.ts';
import { treeOf } from './tree.ts';

const code = { 'docs/adr/0001-one.md': '# 0001. One\n\n## Why\n', 'contract/package.json': '' };

function foundLines(text: string, path = 'docs/README.md'): (number | null)[] {
  return documentLinks(treeOf({ ...code, [path]: text })).map(({ line }) => line);
}

test('links to files, folders, headings and other hosts are accepted', () => {
  const text =
    '# Here\n[a](adr/0001-one.md#why) [b](#here) [c](../contract/) [d](https://a.b/c#d) ![e](adr/0001-one.md)';
  assert.deepEqual(foundLines(text), []);
});

test('a link that leads nowhere is refused, in generated pages and the changelog too', () => {
  assert.deepEqual(foundLines('a\n[x](adr/0009-gone.md)'), [2]);
  assert.deepEqual(foundLines('[x](gone.md)', 'docs/reference/cli.md'), [1]);
  assert.deepEqual(foundLines('[x](gone.md)', 'CHANGELOG.md'), [1]);
});

test('an anchor without a heading is refused, here and in another document', () => {
  assert.deepEqual(foundLines('[x](#gone)\n[y](adr/0001-one.md#gone)'), [1, 2]);
});

test('what is set in code is not a link', () => {
  assert.deepEqual(foundLines('`[x](gone.md)`\n```\n[x](gone.md)\n```\n'), []);
});

test('anchors are those of GitHub', () => {
  const anchors = headingAnchors(
    '# The `relay` command\n## What’s new, and why?\n## A\n```sh\n# not one\n```\n## A\n### [Link](x.md) & more',
  );
  assert.deepEqual([...anchors], ['the-relay-command', 'whats-new-and-why', 'a', 'a-1', 'link--more']);
});
