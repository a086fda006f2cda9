import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { exitCodes, ProgramError } from './program-error.ts';
import type { Surroundings } from './surroundings.ts';

/** Ctrl+C instead of an answer. */
export class InterruptedError extends ProgramError {}

/** Whether a prompt is possible: both input and output are a terminal. */
export function canAsk({ stdin, stderr }: Pick<Surroundings, 'stdin' | 'stderr'>): boolean {
  return Boolean(stdin.isTTY && stderr.isTTY);
}

export async function ask(
  surroundings: Surroundings,
  question: string,
  signal?: AbortSignal,
): Promise<string> {
  return (await readAnswer(surroundings, question, false, signal)).trim();
}

/** Hides the input. */
export async function askHidden(surroundings: Surroundings, question: string): Promise<string> {
  return (await readAnswer(surroundings, question, true)).trim();
}

export async function confirm(
  surroundings: Surroundings,
  question: string,
  signal?: AbortSignal,
): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(surroundings, `${question} [y/N] `, signal));
}

/** Enter alone is a yes; only for what can be undone. */
export async function confirmByDefault(
  surroundings: Surroundings,
  question: string,
  signal?: AbortSignal,
): Promise<boolean> {
  return /^(y(es)?)?$/i.test(await ask(surroundings, `${question} [Y/n] `, signal));
}

async function readAnswer(
  { stdin, stderr }: Surroundings,
  question: string,
  isHidden: boolean,
  signal?: AbortSignal,
): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: stdin,
    output: isHidden ? nowhere : stderr,
    terminal: true,
    historySize: 0,
  });
  // From here on, the terminal does not echo input.
  if (isHidden) stderr.write(question);
  const stopped = new AbortController();
  let isInterrupted = false;
  lines.once('SIGINT', () => {
    isInterrupted = true;
    stopped.abort();
  });
  lines.once('close', () => stopped.abort());
  try {
    const signals = signal === undefined ? [stopped.signal] : [stopped.signal, signal];
    return await lines.question(isHidden ? '' : question, { signal: AbortSignal.any(signals) });
  } catch {
    const Kind = isInterrupted ? InterruptedError : ProgramError;
    throw new Kind('No input.', exitCodes.error);
  } finally {
    lines.close();
    if (isHidden) stderr.write('\n');
  }
}
