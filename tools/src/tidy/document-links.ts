import { posix } from 'node:path';
import { knownPaths } from './document-paths.ts';
import { headingAnchors } from './heading-anchors.ts';
import { type Link, linksOf } from './markdown-code.ts';
import type { Finding, Tree, TreeFile } from './tree.ts';

/** Every link of every document, generated ones too, leads to a file, and its anchor to a heading. */
export function documentLinks(tree: Tree): Finding[] {
  const known = knownPaths(tree);
  const pages = new Map(markdownFiles(tree).map(({ path, text }) => [path, headingAnchors(text)]));
  return markdownFiles(tree).flatMap((file) =>
    linksOf(file).flatMap((link) => {
      const target = targetOf(file, link);
      const wrong =
        (!known.has(target) && `links to ${link.path}, which does not exist`) ||
        (isLost(link, pages.get(target)) &&
          `links to ${link.path}#${link.anchor}, and no heading has that anchor`);
      return wrong === false ? [] : [{ path: file.path, line: link.line, message: wrong }];
    }),
  );
}

export function markdownFiles(tree: Tree): TreeFile[] {
  return tree.files.filter(({ path }) => path.endsWith('.md'));
}

function targetOf(file: TreeFile, { path }: Link): string {
  if (path === '') return file.path;
  return posix.normalize(posix.join(posix.dirname(file.path), path)).replace(/\/$/, '');
}

/** Anchors are compared with headings of documents; other files have lines. */
function isLost({ anchor }: Link, anchors: ReadonlySet<string> | undefined): boolean {
  return anchor !== null && anchors !== undefined && !anchors.has(anchor);
}
