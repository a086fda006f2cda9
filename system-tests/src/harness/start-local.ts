import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { freePort } from '@relay/testbed';
import { bareEnvironment } from './bare-environment.ts';
import { RELAY_ENTRY } from './relay-entry.ts';

const PRINTED_MS_MAX = 60_000;

/** An Ollama with a model for chats and one for embeddings. */
export function startOllama(): Promise<ProviderSim> {
  const models = [{ id: 'nomic-embed-text', operations: ['embeddings' as const] }, { id: 'llama3.2' }];
  return startProviderSim({ ollama: true, anonymous: true, models });
}

/** `relay start` in an empty folder, on a machine with this Ollama. */
export interface LocalRelay {
  readonly url: string;
  readonly folder: string;
  /** All that it printed until the text is complete. */
  untilPrinted(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
}

export async function startLocal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<LocalRelay> {
  const folder = mkdtempSync(join(tmpdir(), 'relay-local-'));
  const port = await freePort();
  const child = spawn(process.execPath, [RELAY_ENTRY, 'start', '--port', String(port), ...args], {
    cwd: folder,
    env: { ...bareEnvironment(), HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const output = readOutput(child);
  return {
    url: `http://127.0.0.1:${port}`,
    folder,
    untilPrinted: output.until,
    async stop() {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
      process.off('exit', killOnExit);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function readOutput(child: ChildProcess): { readonly until: LocalRelay['untilPrinted'] } {
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  return {
    async until(pattern) {
      const signal = AbortSignal.timeout(PRINTED_MS_MAX);
      while (!pattern.test(printed)) {
        if (child.exitCode !== null) throw new Error(`relay start ended with ${child.exitCode}:\n${printed}`);
        try {
          await once(child.stdout ?? child, 'data', { signal });
        } catch {
          throw new Error(`${pattern} was not printed:\n${printed}`);
        }
      }
      return printed;
    },
  };
}
