import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSentence, languageModelIndex, languageModelText } from './language-model-files.ts';

test('the index lists pages as Markdown with their first sentence', () => {
  const pages = new Map([['guides/keys.md', '<!-- made -->\n\n# Keys\n\nA key calls [Relay](/x.md). More.']]);
  const index = languageModelIndex(
    'A gateway.',
    [{ text: 'Start', items: [{ text: 'Keys', link: '/guides/keys' }] }],
    pages,
  );
  assert.match(index, /^# Relay\n\n> A gateway\.\n/);
  assert.match(index, /\n## Start\n\n- \[Keys\]\(\/guides\/keys\.md\): A key calls Relay\.\n$/);
});

test('the whole text has every page for users, without front matter', () => {
  const text = languageModelText([
    { page: 'index.md', text: '---\n{}\n---\n\n## Start' },
    { page: 'adr/0001.md', text: '# Why' },
  ]);
  assert.equal(text, '<!-- /index.md -->\n\n## Start\n');
});

test('a page without prose has no sentence', () => {
  assert.equal(firstSentence('# T\n\n| a |\n|---|\n'), '');
});
