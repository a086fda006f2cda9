import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program that runs until it is stopped. */
export interface Program {
  output(): string;
  stop(): Promise<void>;
}

export function startProgram(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Program {
  const child = spawn(command, args, {
    env: { ...env, PATH: `${process.env['PATH']}:/usr/sbin` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
    });
  return {
    output: () => output,
    async stop() {
      process.off('exit', kill);
      kill();
      await exited;
    },
  };
}
