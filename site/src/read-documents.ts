import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export const REPOSITORY = join(import.meta.dirname, '../..');
const DOCUMENTS = 'docs';
/** Documents at the root that readers of the site look for. */
const PROJECT = ['CONTRIBUTING.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md', 'CHANGELOG.md'];

export interface Document {
  /** In the repository. */
  readonly path: string;
  /** On the site, from its root: `guides/keys.md`. */
  readonly page: string;
  /** Its first heading, without code marks. */
  readonly title: string;
  readonly text: string;
}

/** Every document that becomes a page. */
export function readDocuments(): Document[] {
  const below = readdirSync(join(REPOSITORY, DOCUMENTS), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => posix.join(DOCUMENTS, path.replaceAll('\\', '/')))
    .sort();
  return [...below, ...PROJECT].map((path) => documentOf(path, readText(path)));
}

export function readText(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

export function documentOf(path: string, text: string): Document {
  const title = /^# (.*)$/m.exec(text)?.[1] ?? posix.basename(path, '.md');
  return { path, page: pageOf(path), title: title.replaceAll('`', ''), text };
}

function pageOf(path: string): string {
  if (!path.startsWith(`${DOCUMENTS}/`)) return `project/${path.toLowerCase().replaceAll('_', '-')}`;
  return path
    .slice(DOCUMENTS.length + 1)
    .replace(/(^|\/)README\.md$/, '$1index.md')
    .replace('ARCHITECTURE', 'architecture');
}
