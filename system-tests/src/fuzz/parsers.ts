import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ENTRY = join(import.meta.dirname, '../../../server/src/main/fuzz/fuzz-parsers.fixture.ts');

/** The server's own parsers, fuzzed in a process of theirs: `npm run fuzz:parsers`. */
export async function fuzzParsers(
  inputs: number,
  seed: number,
): Promise<{ inputs: number; crashes: number }> {
  const child = spawn(process.execPath, [ENTRY, '--inputs', String(inputs), '--seed', String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await once(child, 'close');
  const lines = said.trim().split('\n');
  for (const line of lines.slice(0, -1)) process.stdout.write(`parsers: ${line}\n`);
  return JSON.parse(lines.at(-1) ?? '') as { inputs: number; crashes: number };
}
