import ts from 'typescript';
import type { TreeFile } from '../tree.ts';

/** What the figures need to know about one file of production code. */
export interface ReadCode {
  readonly path: string;
  readonly lines: number;
  readonly functions: readonly FunctionSpan[];
  /** The one-based line of every `as` expression other than `as const`. */
  readonly casts: readonly number[];
  /** Relative imports and re-exports as written, type imports and `import()` included. */
  readonly imports: readonly string[];
}

export interface FunctionSpan {
  /** The declared name, or the name of the variable or property it is assigned to. */
  readonly name: string;
  readonly line: number;
  /** From the function's first line to its last, both included. */
  readonly lines: number;
}

/** Parses one file without types, so that a file with type errors is measured too. */
export function readCode({ path, text }: TreeFile): ReadCode {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const functions: FunctionSpan[] = [];
  const casts: number[] = [];
  const imports: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && node.type.getText() !== 'const') casts.push(lineOf(node.getStart()));
    if (isFunction(node)) {
      const line = lineOf(node.getStart());
      functions.push({ name: nameOf(node), line, lines: lineOf(node.end) - line + 1 });
    }
    const specifier = importedBy(node);
    if (specifier?.startsWith('.')) imports.push(specifier);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { path, lines: text.trimEnd().split('\n').length, functions, casts, imports };
}

type MeasuredFunction = ts.FunctionLikeDeclaration & { readonly body: ts.Node };

function isFunction(node: ts.Node): node is MeasuredFunction {
  return (
    (ts.isFunctionDeclaration(node) ||
      ts.isFunctionExpression(node) ||
      ts.isArrowFunction(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isConstructorDeclaration(node)) &&
    node.body !== undefined
  );
}

function nameOf(node: MeasuredFunction): string {
  if (node.name !== undefined) return node.name.getText();
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const holder = node.parent;
  return ts.isVariableDeclaration(holder) || ts.isPropertyAssignment(holder)
    ? holder.name.getText()
    : '(anonymous)';
}

function importedBy(node: ts.Node): string | null {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)
      ? node.moduleSpecifier.text
      : null;
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [first] = node.arguments;
    return first !== undefined && ts.isStringLiteral(first) ? first.text : null;
  }
  return null;
}
