import { posix } from 'node:path';

export interface BuiltFile {
  /** Below the folder of the built site. */
  readonly path: string;
  readonly text: string;
}

export interface BuiltReport {
  readonly links: number;
  /** Links that lead to no file, or to no element of it. */
  readonly broken: readonly string[];
  /** What a browser would fetch from another host. */
  readonly external: readonly string[];
}

/** Compares every link of the built pages with the files and elements there are. */
export function checkBuilt(
  files: readonly BuiltFile[],
  paths: ReadonlySet<string>,
  base: string,
): BuiltReport {
  const pages = files.filter(({ path }) => path.endsWith('.html'));
  const anchors = new Map(pages.map(({ path, text }) => [path, idsOf(text)]));
  const broken: string[] = [];
  let links = 0;
  for (const { path, text } of pages) {
    for (const target of [...attributes(text, 'href'), ...attributes(text, 'src')]) {
      if (/^([a-z]+:|\/\/)/.test(target)) continue;
      links += 1;
      const [file = '', anchor = ''] = target.split('#');
      const there = file === '' ? path : fileOf(file, path, base);
      const isThere =
        paths.has(there) && (anchor === '' || anchors.get(there)?.has(decodeURIComponent(anchor)) !== false);
      if (!isThere) broken.push(`${path} links to ${target}`);
    }
  }
  return { links, broken, external: files.flatMap(externalOf) };
}

function fileOf(target: string, from: string, base: string): string {
  const path = decodeURIComponent(target.split('?')[0] ?? '');
  const below = path.startsWith('/')
    ? path.slice(base.length)
    : posix.normalize(posix.join(posix.dirname(from), path));
  return below === '' || below.endsWith('/') ? `${below}index.html` : below;
}

function idsOf(html: string): ReadonlySet<string> {
  return new Set(attributes(html, 'id'));
}

function attributes(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(`<[a-z][^>]*?\\s${name}="([^"]*)"`, 'g'))].map((match) =>
    (match[1] ?? '').replaceAll('&amp;', '&'),
  );
}

/** Scripts, styles, fonts and pictures. Links that a reader follows may lead anywhere. */
function externalOf({ path, text }: BuiltFile): string[] {
  const fetched = path.endsWith('.html')
    ? /<(?:script|img|iframe|source|video)[^>]*?\ssrc="((?:https?:)?\/\/[^"]*)"|<link[^>]*?\shref="((?:https?:)?\/\/[^"]*)"/g
    : path.endsWith('.css')
      ? /(?:url\(|@import )["']?((?:https?:)?\/\/[^"')]*)/g
      : null;
  if (fetched === null) return [];
  return [...text.matchAll(fetched)].map((match) => `${path} fetches ${match[1] ?? match[2] ?? ''}`);
}
