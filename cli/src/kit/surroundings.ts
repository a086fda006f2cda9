import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';

/** A command's access to the environment. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly home: string;
  readonly cwd: string;
  readonly nowMs: () => number;
  readonly newId: () => string;
  /** Adds a listener for Ctrl-C and returns its removal. */
  readonly onInterrupt: (listener: () => void) => () => void;
}

export function processSurroundings(): Surroundings {
  const { env, stdin, stdout, stderr } = process;
  return {
    env,
    stdin,
    stdout,
    stderr,
    home: env['HOME'] || homedir(),
    cwd: process.cwd(),
    nowMs: Date.now,
    newId: randomUUID,
    onInterrupt: (listener) => {
      process.on('SIGINT', listener);
      return () => process.off('SIGINT', listener);
    },
  };
}
