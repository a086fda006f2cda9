import type { TreeFile } from './tree.ts';

export interface Quote {
  readonly line: number;
  readonly text: string;
}

/** What a document sets in code: inline spans, and the lines of fenced blocks. */
export function quotedCode(file: TreeFile): Quote[] {
  const quotes: Quote[] = [];
  let fenced = false;
  for (const [index, text] of file.text.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(text)) {
      fenced = !fenced;
      continue;
    }
    if (fenced) quotes.push({ line: index + 1, text: text.trim() });
    else
      for (const match of text.matchAll(/`([^`]+)`/g)) quotes.push({ line: index + 1, text: match[1] ?? '' });
  }
  return quotes;
}

/** Targets of links and images that are not fenced and not on another host. */
export function linkTargets(file: TreeFile): Quote[] {
  const targets: Quote[] = [];
  let fenced = false;
  for (const [index, text] of file.text.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(text)) fenced = !fenced;
    if (fenced) continue;
    for (const match of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const target = match[1] ?? '';
      if (!/^([a-z]+:|#)/.test(target)) targets.push({ line: index + 1, text: target.replace(/#.*$/, '') });
    }
  }
  return targets;
}
