import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from './read-documents.ts';
import { stagePage } from './stage-page.ts';

const pages = new Map([
  ['docs/guides/keys.md', 'guides/keys.md'],
  ['docs/clients/README.md', 'clients/index.md'],
  ['CONTRIBUTING.md', 'project/contributing.md'],
]);

function staged(text: string, repositoryUrl: string | null = null) {
  return stagePage(documentOf('docs/start/here.md', text), pages, repositoryUrl);
}

test('links lead to pages, also those of READMEs and of the project, with their anchors', () => {
  const text =
    '[a](../guides/keys.md#new) [b](../clients/README.md) [c](../../CONTRIBUTING.md) [d](#x) [e](https://a.b)';
  assert.equal(
    staged(text).text,
    '[a](/guides/keys.md#new) [b](/clients/index.md) [c](/project/contributing.md) [d](#x) [e](https://a.b)',
  );
});

test('a file that is not on the site is linked in the repository, or named', () => {
  assert.equal(staged('see [`x`](../../bench/README.md)').text, 'see `x`');
  assert.equal(staged('[x](../../bench/README.md)', 'https://h/r').text, '[x](https://h/r/bench/README.md)');
});

test('pictures are listed and shown from their copies', () => {
  const { text, pictures } = staged('![p](../pictures/p.svg)');
  assert.deepEqual(pictures, ['docs/pictures/p.svg']);
  assert.equal(text, '![p](/assets-of-pages/docs/pictures/p.svg)');
});

test('code keeps its text, and fences lose the marks of snippet tests', () => {
  const text = '```sh run\n[a](../guides/keys.md)\n```\n[a](../guides/keys.md)';
  assert.equal(staged(text).text, '```sh\n[a](../guides/keys.md)\n```\n[a](/guides/keys.md)');
});
