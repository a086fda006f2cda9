import type { TreeFile } from './tree.ts';

export interface Quote {
  readonly line: number;
  readonly text: string;
}

/** What a document sets in code: inline spans, and the lines of fenced blocks, continued lines as one. */
export function quotedCode(file: TreeFile): Quote[] {
  const quotes: Quote[] = [];
  let fenced = false;
  let continues = false;
  for (const [index, text] of file.text.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(text)) {
      fenced = !fenced;
      continue;
    }
    if (fenced) {
      const before = continues ? quotes.pop() : undefined;
      continues = /\\$/.test(text);
      const own = text.trim().replace(/\\$/, '');
      quotes.push({ line: before?.line ?? index + 1, text: `${before?.text ?? ''}${own}` });
    } else
      for (const match of text.matchAll(/`([^`]+)`/g)) quotes.push({ line: index + 1, text: match[1] ?? '' });
  }
  return quotes;
}

export interface Link {
  readonly line: number;
  /** Empty for a link to another place of the same document. */
  readonly path: string;
  /** The heading it leads to; null without one. */
  readonly anchor: string | null;
}

/** Links and images that are not fenced and not on another host. */
export function linksOf(file: TreeFile): Link[] {
  const links: Link[] = [];
  let fenced = false;
  for (const [index, text] of file.text.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(text)) fenced = !fenced;
    if (fenced) continue;
    for (const match of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = '', ...anchor] = (match[1] ?? '').split('#');
      if (!/^[a-z]+:/.test(path))
        links.push({ line: index + 1, path, anchor: anchor.length === 0 ? null : anchor.join('#') });
    }
  }
  return links;
}

function withoutCode(line: string): string {
  return line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length));
}
