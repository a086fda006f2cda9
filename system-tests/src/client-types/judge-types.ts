import { join } from 'node:path';
import ts from 'typescript';
import type * as shapes from './client-shapes.ts';

/** The types that a value can have; each is an export of `client-shapes.ts`, or this does not compile. */
export interface Shapes {
  ChatWhole: shapes.ChatWhole;
  ChatChunk: shapes.ChatChunk;
  OpenaiError: shapes.OpenaiError;
  ResponsesWhole: shapes.ResponsesWhole;
  ResponsesEvent: shapes.ResponsesEvent;
  MessagesWhole: shapes.MessagesWhole;
  MessagesEvent: shapes.MessagesEvent;
  MessagesError: shapes.MessagesError;
}
export type Shape = keyof Shapes;

export interface TypedValue {
  readonly shape: Shape;
  readonly value: unknown;
  /** Where it came from, for reports. */
  readonly from: string;
}

export interface OffValue {
  readonly from: string;
  readonly shape: Shape;
  readonly why: string;
  readonly value: string;
}

const FILE = join(import.meta.dirname, 'values-under-test.ts');
/** Members with text or a name of the provider's choice: any text has the same type. */
const FREE_TEXT = new Set([
  ...['id', 'item_id', 'call_id', 'model', 'text', 'delta', 'thinking', 'partial_json', 'arguments'],
  ...['signature', 'data', 'content', 'reasoning_content', 'refusal', 'encrypted_content', 'message'],
  ...['request_id', 'doc_url', 'input', 'instructions', 'city', 'stop_sequence', 'explanation'],
]);

/** Compiles the values with the types that their clients have for them; returns those that have another type. */
export function offValues(values: readonly TypedValue[]): OffValue[] {
  const byLine = new Map<string, TypedValue[]>();
  for (const each of values) {
    const text = `const _: shapes.${each.shape} = ${JSON.stringify(each.value, withoutFreeText)};`;
    const same = byLine.get(text);
    if (same === undefined) byLine.set(text, [each]);
    else same.push(each);
  }
  const lines = [...byLine];
  const source = [
    "import type * as shapes from './client-shapes.ts';",
    ...lines.map(([text], index) => text.replace('_', `value${index}`)),
  ].join('\n');
  return diagnosticsOf(source).flatMap(({ line, why }) =>
    (lines[line - 1]?.[1] ?? []).map(({ from, shape, value }) => ({
      from,
      shape,
      why,
      value: JSON.stringify(value).slice(0, 600),
    })),
  );
}

function withoutFreeText(name: string, value: unknown): unknown {
  if (typeof value === 'number') return 1;
  return typeof value === 'string' && FREE_TEXT.has(name) ? '' : value;
}

function diagnosticsOf(source: string): { readonly line: number; readonly why: string }[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options);
  const usual = { read: host.getSourceFile.bind(host), exists: host.fileExists.bind(host) };
  host.fileExists = (name) => name === FILE || usual.exists(name);
  host.getSourceFile = (name, version, ...rest) =>
    name === FILE ? ts.createSourceFile(name, source, version) : usual.read(name, version, ...rest);
  const program = ts.createProgram([FILE], options, host);
  const file = program.getSourceFile(FILE);
  if (file === undefined) throw new Error('The values were not compiled.');
  const global = program.getGlobalDiagnostics();
  if (global.length > 0) throw new Error(ts.flattenDiagnosticMessageText(global[0]?.messageText, '\n'));
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
    ({ start, messageText }) => ({
      line: file.getLineAndCharacterOfPosition(start ?? 0).line,
      why: ts.flattenDiagnosticMessageText(messageText, ' '),
    }),
  );
}
