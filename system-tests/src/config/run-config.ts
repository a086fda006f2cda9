import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { bareEnvironment } from '../harness/bare-environment.ts';
import type { Deployment } from '../harness/deployment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';

const COMMAND_MS_MAX = 20_000;

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Everything that commands have printed, to look for secrets in. */
export interface Printed {
  readonly texts: string[];
}

/** Runs `relay config …` in a folder, with the admin token of this deployment. */
export async function runConfig(
  { folder, printed, deployment, env = {} }: ConfigCommand,
  ...args: readonly string[]
): Promise<CommandResult> {
  const connection: Record<string, string> =
    deployment === undefined ? {} : { RELAY_SERVER: deployment.url, RELAY_TOKEN: deployment.adminToken };
  const child = spawn(process.execPath, [RELAY_ENTRY, 'config', ...args], {
    cwd: folder,
    env: { ...bareEnvironment(), HOME: folder, ...connection, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_MS_MAX,
  });
  const collected = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      collected[name] += chunk.toString();
    });
  const [code] = (await once(child, 'close')) as [number | null];
  printed.texts.push(collected.stdout, collected.stderr);
  return { code, ...collected };
}

export interface ConfigCommand {
  readonly folder: string;
  readonly printed: Printed;
  readonly deployment?: Deployment;
  readonly env?: Readonly<Record<string, string>>;
}
