import { spawn } from 'node:child_process';

/** Runs a program to its end; answers its exit status and all that it printed. */
export async function runProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.on('error', (error) => (output += error.message));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}
