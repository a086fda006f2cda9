import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const ROOT = join(import.meta.dirname, '../../..');
const COMPILER = join(ROOT, 'node_modules/@typescript/native/bin/tsc');
const OUTPUT_BYTES_MAX = 256 * 2 ** 20;
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
    `import type * as shapes from '${join(import.meta.dirname, 'client-shapes.ts')}';`,
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

/** The native compiler checks thousands of values in a few seconds; it reads files only. */
function diagnosticsOf(source: string): { readonly line: number; readonly why: string }[] {
  const folder = mkdtempSync(join(tmpdir(), 'relay-values-'));
  const config = {
    compilerOptions: {
      target: 'es2024',
      module: 'nodenext',
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
    },
    files: ['values.mts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'values.mts'), source);
  const args = [COMPILER, '--project', folder, '--pretty', 'false'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  rmSync(folder, { recursive: true });
  const found = stdout.split(/\n(?=\S)/).flatMap((text) => {
    const [, line, why] = /^values\.mts\((\d+),\d+\): error \w+: ([\s\S]+)/.exec(text) ?? [];
    return line === undefined || why === undefined ? [] : [{ line: Number(line) - 1, why: why.trim() }];
  });
  // A compiler that found something else, or did not run, has judged nothing.
  if (status !== 0 && found.length === 0) throw new Error(`The values were not compiled: ${stdout}${stderr}`);
  return found;
}
