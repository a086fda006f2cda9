import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { screenOf } from './screen.ts';

export const COMMAND_MS_MAX = 60_000;
export const COLUMNS = 160;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Everything as it came, with its control characters; of a terminal both streams together. */
  readonly raw: string;
}

export interface RunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin?: string;
}

/** Runs the command with pipes, as a script would. */
export async function runPiped(args: readonly string[], { env, cwd, stdin = '' }: RunOptions): Promise<Ran> {
  const child = spawn(process.execPath, [RELAY_ENTRY, ...args], {
    cwd,
    env: { ...env },
    timeout: COMMAND_MS_MAX,
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    text.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text.stderr += chunk.toString();
  });
  // A command that does not read its input ends before it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...text, raw: text.stdout + text.stderr };
}

/** Input to type, each once the screen shows the text before it. */
export type Typing = readonly (readonly [shown: string, typed: string])[];

/** Runs the command on a terminal of its own, made by `script` of util-linux. */
export async function runOnTerminal(
  args: readonly string[],
  { env, cwd, typing = [] }: Omit<RunOptions, 'stdin'> & { typing?: Typing },
): Promise<Ran> {
  const words = [process.execPath, RELAY_ENTRY, ...args].map(quoted).join(' ');
  const command = `stty cols ${COLUMNS} rows 50; exec ${words}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd,
    env: { TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    timeout: COMMAND_MS_MAX,
  });
  child.stdin.on('error', () => undefined);
  const raw = await typeInto(child, typing);
  return { code: child.exitCode, stdout: screenOf(raw), stderr: '', raw };
}

async function typeInto(child: ChildProcessWithoutNullStreams, typing: Typing): Promise<string> {
  const left = [...typing];
  let raw = '';
  let looked = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    raw += chunk.toString('latin1');
    for (;;) {
      const [next] = left;
      if (next === undefined) return;
      const at = raw.indexOf(next[0], looked);
      if (at === -1) return;
      looked = at + next[0].length;
      left.shift();
      child.stdin.write(next[1]);
    }
  });
  child.stderr.on('data', (chunk: Buffer) => {
    raw += chunk.toString('latin1');
  });
  await once(child, 'close');
  child.stdin.destroy();
  if (left.length > 0) raw += `\r\n(never asked: ${left[0]?.[0]})\r\n`;
  return Buffer.from(raw, 'latin1').toString('utf8');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
