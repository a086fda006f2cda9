import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { exitCodes, ProgramError } from './program-error.ts';
import type { Surroundings } from './surroundings.ts';
import { codeOf, isObject, messageOf } from './values.ts';

const INPUT_BYTES_MAX = 20 * 1024 * 1024;

/** Reads standard input to its end. */
export async function readStdin({ stdin }: Pick<Surroundings, 'stdin'>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > INPUT_BYTES_MAX) throw new ProgramError('Standard input is larger than 20 MiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A file, or standard input for `-`. */
export async function readInput(surroundings: Surroundings, path: string): Promise<string> {
  if (path === '-') return readStdin(surroundings);
  try {
    return await readFile(resolve(surroundings.cwd, path), 'utf8');
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'the file doesn’t exist' : messageOf(error);
    throw new ProgramError(`Can't read ${path}: ${why}.`, exitCodes.usage, {
      fix: 'Name an existing file, or - for standard input.',
    });
  }
}

/** The text of a file; null if it does not exist. */
export async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new ProgramError(`Can't read ${path}: ${messageOf(error)}`);
  }
}

/** Reads one object from JSON or YAML; errors have line and column. */
export async function readObject(
  surroundings: Surroundings,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const name = path === '-' ? 'standard input' : path;
  const text = await readInput(surroundings, path);
  const value = /^\s*[{[]/.test(text) ? parseJson(text, name) : await parseYaml(text, name);
  if (isObject(value)) return value;
  throw new ProgramError(`${name} is not an object.`, exitCodes.usage, {
    fix: 'Write one object with the fields of the body, as JSON or YAML.',
  });
}

export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const at = faultAt(text);
    const before = text.slice(0, at).split('\n');
    const place = `${name}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    const what = at >= text.length ? 'the text ends too early' : `unexpected ${JSON.stringify(text[at])}`;
    throw new ProgramError(`${place} is not valid JSON: ${what}.`, exitCodes.usage, {
      fix: 'Check for a trailing comma, single quotes or missing text.',
    });
  }
}

async function parseYaml(text: string, name: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true });
  const [first] = document.errors;
  if (first === undefined) return document.toJS();
  const { line, col } = first.linePos?.[0] ?? { line: 1, col: 1 };
  const what = first.message.split(' at line ')[0] ?? '';
  throw new ProgramError(`${name}:${line}:${col} is not valid YAML: ${what}.`, exitCodes.usage, {
    fix: 'Correct the line; indent with spaces only.',
  });
}

/**
 * The position of the JSON error, by binary search for the longest valid prefix; the parser does not always
 * report it.
 */
function faultAt(text: string): number {
  let possible = 0;
  let impossible = text.length + 1;
  while (impossible - possible > 1) {
    const middle = Math.floor((possible + impossible) / 2);
    if (isBeginning(text.slice(0, middle))) possible = middle;
    else impossible = middle;
  }
  return possible;
}

function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = messageOf(error);
    const position = /at position (\d+)/.exec(message)?.[1];
    return /^(Unexpected end|Unterminated)/.test(message) || Number(position) === text.length;
  }
}
