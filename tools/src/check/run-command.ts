import { spawn } from 'node:child_process';

export interface CommandResult {
  readonly ok: boolean;
  /** Standard output and standard error in the order they came. */
  readonly output: string;
  readonly stdout: string;
}

/** Runs a program to its end and keeps what it printed; a program that cannot be started is a failure too. */
export function runCommand(program: string, args: readonly string[], cwd: string): Promise<CommandResult> {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  // Set by node's runner for its children; a runner started below a test would take itself for such a child.
  delete env['NODE_TEST_CONTEXT'];
  delete env['FORCE_COLOR'];
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', (error) => resolve({ ok: false, output: String(error), stdout }));
    child.on('close', (code) => resolve({ ok: code === 0, output, stdout }));
  });
}
