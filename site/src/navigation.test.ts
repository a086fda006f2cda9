import assert from 'node:assert/strict';
import { test } from 'node:test';
import { navigation } from './navigation.ts';
import { documentOf, readDocuments } from './read-documents.ts';

test('sections and links of the map are the groups, and a folder is one entry', () => {
  const documents = [
    documentOf(
      'docs/README.md',
      '# Map\n\n## Start\n\n[B](b.md) [a](a.md)\n\n## Connect\n\n[C](clients/README.md)',
    ),
    documentOf('docs/a.md', '# The `a` page'),
    documentOf('docs/b.md', '# B'),
    documentOf('docs/clients/README.md', '# Clients'),
    documentOf('docs/clients/curl.md', '# curl'),
  ];
  assert.deepEqual(navigation(documents), [
    {
      text: 'Start',
      collapsed: false,
      items: [
        { text: 'B', link: '/b' },
        { text: 'The a page', link: '/a' },
      ],
    },
    {
      text: 'Connect',
      collapsed: false,
      items: [
        {
          text: 'Clients',
          link: '/clients/',
          collapsed: true,
          items: [{ text: 'curl', link: '/clients/curl' }],
        },
      ],
    },
  ]);
});

test('a page that the map does not name is in the group of its folder', () => {
  const documents = [
    documentOf('docs/README.md', '# Map\n\n## Operate\n\n[a](a.md)'),
    documentOf('docs/a.md', '# A'),
    documentOf('docs/operate/new.md', '# New'),
    documentOf('docs/runbooks/full.md', '# Full'),
  ];
  assert.deepEqual(
    navigation(documents).map(({ text, items }) => [text, items?.map((item) => item.text)]),
    [
      ['Operate', ['A', 'New']],
      ['Runbooks', ['Full']],
    ],
  );
});

test('every document of the repository is in the navigation once', () => {
  const documents = readDocuments();
  const links: string[] = [];
  const walk = (entries: ReturnType<typeof navigation>): void => {
    for (const { link, items } of entries) {
      if (link !== undefined) links.push(link);
      if (items !== undefined) walk([...items]);
    }
  };
  walk(navigation(documents));
  assert.equal(new Set(links).size, links.length);
  // The map itself is the front page.
  assert.equal(links.length, documents.length - 1);
});
