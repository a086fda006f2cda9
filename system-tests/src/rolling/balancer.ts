import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { until } from '../harness/until.ts';

const START_MS_MAX = 10_000;

export interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

/** HAProxy in front of these addresses, as the guide sets it up: it asks each of them whether it is ready. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  const port = await freePort();
  writeFileSync(file, configurationOf(port, urls));
  const child = spawn('haproxy', ['-db', '-f', file], {
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  async function stop(): Promise<void> {
    process.off('exit', kill);
    kill();
    await exited;
    rmSync(directory, { recursive: true, force: true });
  }
  const answers = async () => (await fetch(`${url}/readyz`)).status === 200;
  if (await until(answers, START_MS_MAX)) return { url, stop };
  await stop();
  throw new Error(`haproxy does not answer:\n${errors}`);
}

function configurationOf(port: number, urls: readonly string[]): string {
  const servers = urls.map((url, index) => `  server gateway${index + 1} ${new URL(url).host} check`);
  return `defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout check 20s
  option redispatch
  default-server inter 200ms fall 2 rise 1
frontend clients
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /readyz
${servers.join('\n')}
`;
}
