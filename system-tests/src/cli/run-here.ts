import { dirname, join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Surroundings } from '@relay/cli';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { COLUMNS, COMMAND_MS_MAX, type Ran, type RunOptions, type Typing } from './run-cli.ts';
import { screenOf } from './screen.ts';

type RunIn = (surroundings: Surroundings, argv: readonly string[]) => Promise<number>;

const MODULE = process.env['RELAY_SYSTEM_BIN'] ? '../lib/cli.js' : '../src/index.ts';
const { runIn } = (await import(pathToFileURL(join(dirname(RELAY_ENTRY), MODULE)).href)) as { runIn: RunIn };

/** Whether commands look at the process itself: a server takes its settings and signals from there. */
export function needsProcess([name = '']: readonly string[]): boolean {
  return name === 'serve' || name === 'start';
}

/** Runs the command in this process as with pipes: a tenth of the CPU of a process. */
export async function runHerePiped(
  args: readonly string[],
  { env, cwd, stdin = '' }: RunOptions,
): Promise<Ran> {
  const text = { stdout: '', stderr: '' };
  const code = await runWithin(args, {
    env,
    cwd,
    stdin: new PassThrough().end(stdin),
    stdout: outputTo((part) => {
      text.stdout += part;
    }),
    stderr: outputTo((part) => {
      text.stderr += part;
    }),
  });
  return { code, ...text, raw: text.stdout + text.stderr };
}

/** Runs the command in this process as on a terminal, whose line ends and raw mode it imitates. */
export async function runHereOnTerminal(
  args: readonly string[],
  { env, cwd, typing = [] }: Omit<RunOptions, 'stdin'> & { typing?: Typing },
): Promise<Ran> {
  const left = [...typing];
  let raw = '';
  let looked = 0;
  const stdin = Object.assign(new PassThrough(), { isTTY: true, isRaw: false, setRawMode: () => stdin });
  const screen = (): Writable => {
    const stream = outputTo((part) => {
      raw += part.replaceAll('\n', '\r\n');
      for (let next = left[0]; next !== undefined; next = left[0]) {
        const at = raw.indexOf(next[0], looked);
        if (at === -1) return;
        looked = at + next[0].length;
        left.shift();
        // As from a terminal: never before the command has written its prompt and waits.
        const [, typed] = next;
        setImmediate(() => stdin.write(typed));
      }
    });
    const depth = env['NO_COLOR'] === undefined ? 8 : 1;
    return Object.assign(stream, { isTTY: true, columns: COLUMNS, rows: 50, getColorDepth: () => depth });
  };
  const terminal = { TERM: 'xterm-256color', SHELL: '/bin/sh', ...env };
  const code = await runWithin(args, { env: terminal, cwd, stdin, stdout: screen(), stderr: screen() });
  if (left.length > 0) raw += `\r\n(never asked: ${left[0]?.[0]})\r\n`;
  return { code, stdout: screenOf(raw), stderr: '', raw };
}

interface Streams {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: PassThrough;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

async function runWithin(
  args: readonly string[],
  { env, cwd, stdin, stdout, stderr }: Streams,
): Promise<number> {
  const surroundings: Surroundings = {
    env,
    cwd,
    home: env['HOME'] ?? cwd,
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    nowMs: Date.now,
    newId: () => crypto.randomUUID(),
    onInterrupt: () => () => undefined,
  };
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`relay ${args.join(' ')} does not end`)), COMMAND_MS_MAX);
  try {
    return await Promise.race([runIn(surroundings, args), late]);
  } finally {
    clearTimeout(timer);
  }
}

function outputTo(add: (part: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      add(chunk.toString());
      done();
    },
  });
}
