import { posix } from 'node:path';
import type { Document } from './read-documents.ts';

export interface Entry {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly Entry[];
}

const MAP = 'docs/README.md';

/**
 * The navigation follows the map in docs/README.md: its sections are the groups, its links their order. A link to a folder's
 * README stands for the folder. What the map does not name is added to the group of its folder's name, so no page is lost.
 */
export function navigation(documents: readonly Document[]): Entry[] {
  const byPath = new Map(documents.map((document) => [document.path, document]));
  const placed = new Set<string>([MAP]);
  const groups = new Map<string, Entry[]>();
  for (const [title, links] of mapSections(byPath.get(MAP)?.text ?? '')) {
    const entries: Entry[] = [];
    for (const path of links.map((link) => posix.normalize(posix.join('docs', link)))) {
      const document = byPath.get(path);
      if (document === undefined || placed.has(path)) continue;
      entries.push(isFolder(path) ? folderEntry(document, documents, placed) : leaf(document));
      placed.add(path);
    }
    if (entries.length > 0) groups.set(title, entries);
  }
  for (const document of documents.filter(({ path }) => !placed.has(path))) {
    const title = groupOf(document);
    groups.set(title, [...(groups.get(title) ?? []), leaf(document)]);
  }
  return [...groups].map(([text, items]) => ({ text, items, collapsed: false }));
}

/** The sections of the map with the documents they link to, in order. */
function mapSections(text: string): (readonly [title: string, links: string[]])[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n');
      const links = [...section.matchAll(/\]\(([^)#\s]+\.md)/g)].map((match) => match[1] ?? '');
      return [title.trim(), links] as const;
    });
}

function isFolder(path: string): boolean {
  return path.endsWith('/README.md');
}

function folderEntry(readme: Document, documents: readonly Document[], placed: Set<string>): Entry {
  const folder = posix.dirname(readme.path);
  const inside = documents.filter(({ path }) => posix.dirname(path) === folder && path !== readme.path);
  for (const { path } of inside) placed.add(path);
  return { ...leaf(readme), collapsed: true, items: inside.map(leaf) };
}

function leaf({ title, page }: Document): Entry {
  return { text: title, link: `/${page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}` };
}

function groupOf({ page }: Document): string {
  const folder = page.includes('/') ? page.slice(0, page.indexOf('/')) : 'more';
  return `${folder.slice(0, 1).toUpperCase()}${folder.slice(1)}`;
}
