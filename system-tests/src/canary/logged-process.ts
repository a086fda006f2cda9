import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { until } from '../harness/until.ts';

const START_MS_MAX = 30_000;

/** A server process of which everything is kept that it writes, to the byte. */
export interface LoggedProcess {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** What it wrote, on both streams. */
  readonly outputs: readonly string[];
  stop(): Promise<void>;
}

export async function startLogged(setup: {
  name: string;
  role: string;
  env: Readonly<Record<string, string>>;
  directory: string;
}): Promise<LoggedProcess> {
  const { name, role, env, directory } = setup;
  const port = await freePort();
  const outputs = ['out', 'err'].map((stream) => join(directory, `${name}.${stream}`));
  const [out = 0, err = 0] = outputs.map((path) => openSync(path, 'a'));
  const child = spawn(process.execPath, [RELAY_ENTRY, 'serve', '--role', role], {
    env: { ...bareEnvironment(), RELAY_HTTP_ADDR: `127.0.0.1:${port}`, ...env },
    stdio: ['ignore', out, err],
  });
  closeSync(out);
  closeSync(err);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit').then(() => process.off('exit', kill));
  const said = () => outputs.map((path) => readFileSync(path, 'utf8')).join('\n');
  const listening = await until(() => said().includes('"msg":"listening"'), START_MS_MAX, 100);
  if (!listening) {
    kill();
    throw new Error(`${name} does not listen:\n${said()}`);
  }
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    outputs,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
