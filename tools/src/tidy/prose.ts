import ts from 'typescript';
import type { TreeFile } from './tree.ts';

/**
 * What people wrote for people in a file: comments in code, everything outside of code in a document. All other
 * characters are replaced by spaces, so that lines keep their numbers. Null where the file holds no prose.
 */
export function proseOf({ path, text }: TreeFile): string | null {
  if (path.endsWith('.md')) return documentProse(text);
  if (/\.(ts|tsx|js|mjs|cjs)$/.test(path)) return scriptComments(path, text);
  if (/\.(sql|lua)$/.test(path)) return lineComments(text, /--.*$/gm);
  if (/(\.(sh|ya?ml)|^\.ci\/run)$/.test(path)) return lineComments(text, /(?<=^|\s)#.*$/gm);
  if (path.endsWith('.css')) return lineComments(text, /\/\*.*?\*\//gs);
  return null;
}

function documentProse(text: string): string {
  return text.replaceAll(/^(```|~~~).*?^\1/gms, blank).replaceAll(/`[^`\n]*`/g, blank);
}

/** Texts in code that people may see: strings, templates and JSX text, without module names and types. */
export function shownTexts({ path, text }: TreeFile): string {
  const source = sourceOf(path, text);
  const spans: (readonly [number, number])[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isLiteralTypeNode(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      spans.push([node.getStart(source) + 1, node.end]);
    if (ts.isJsxText(node)) spans.push([node.pos, node.end]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return withPlaceholders(keepSpans(text, spans));
}

/** A placeholder counts as a word, so that "is no ${thing}" is found. */
export function withPlaceholders(text: string): string {
  return text.replaceAll('${', 'x{');
}

function sourceOf(path: string, text: string): ts.SourceFile {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
}

/** Uses the syntax tree, which distinguishes a comment from `//` in a string. */
function scriptComments(path: string, text: string): string {
  const source = sourceOf(path, text);
  const spans = new Map<number, number>();
  const note = (found: readonly ts.CommentRange[] | undefined): void => {
    for (const { pos, end } of found ?? []) spans.set(pos, end);
  };
  const shown: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) shown.push(node);
    else {
      note(ts.getLeadingCommentRanges(text, node.getFullStart()));
      note(ts.getTrailingCommentRanges(text, node.end));
    }
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  return keepSpans(
    text,
    [...spans]
      .filter(([start]) => !shown.some(({ pos, end }) => pos <= start && start < end))
      .sort(([a], [b]) => a - b),
  );
}

function lineComments(text: string, pattern: RegExp): string {
  return keepSpans(
    text,
    [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]),
  );
}

function keepSpans(text: string, spans: readonly (readonly [number, number])[]): string {
  let kept = '';
  let at = 0;
  for (const [start, end] of spans) {
    kept += blank(text.slice(at, start)) + withoutMarkers(text.slice(start, end));
    at = end;
  }
  return kept + blank(text.slice(at));
}

/** A sentence that runs over several comment lines is read as one. */
function withoutMarkers(comment: string): string {
  return comment.replaceAll(/^\s*(\/\/|\/\*+|\*\/|\*|--|#)/gm, blank).replaceAll('*/', '  ');
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
