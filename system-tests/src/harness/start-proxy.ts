import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { until } from './until.ts';

const START_MS_MAX = 10_000;
const SHIPPED = join(import.meta.dirname, '../../../deploy/proxies');

export interface ReverseProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** HAProxy in front of gateways and platform, with the file of `deploy/proxies`. Without a platform, the gateways have all roles. */
export async function startHaproxy(
  gateways: readonly string[],
  platforms: readonly string[] = gateways,
): Promise<ReverseProxy> {
  const port = await freePort();
  const servers = (name: string, urls: readonly string[]) =>
    urls.map((url, index) => `server ${name}${index + 1} ${new URL(url).host} check`).join('\n  ');
  const text = withAddresses('haproxy.cfg', {
    'bind 0.0.0.0:80': `bind 127.0.0.1:${port}`,
    'server gateway1 127.0.0.1:8080 check': servers('gateway', gateways),
    'server platform1 127.0.0.1:8081 check': servers('platform', platforms),
  });
  return startProxy({
    port,
    files: { 'haproxy.cfg': text },
    command: ['haproxy', '-db', '-f', 'haproxy.cfg'],
  });
}

/** nginx in front of gateways and platform, with the file of `deploy/proxies`. Without a platform, the gateways have all roles. */
export async function startNginx(
  gateways: readonly string[],
  platforms: readonly string[] = gateways,
): Promise<ReverseProxy> {
  const port = await freePort();
  const servers = (urls: readonly string[]) => urls.map((url) => `server ${new URL(url).host};`).join('\n  ');
  const text = withAddresses('nginx.conf', {
    'listen 80;': `listen 127.0.0.1:${port};`,
    'server 127.0.0.1:8080;': servers(gateways),
    'server 127.0.0.1:8081;': servers(platforms),
  });
  return startProxy({
    port,
    files: { 'main.conf': NGINX_MAIN, 'relay.conf': text },
    command: ['nginx', '-e', 'stderr', '-p', '.', '-c', 'main.conf'],
  });
}

/** What a machine's own nginx.conf has around the file: everything in the working directory, and no second user. */
const NGINX_MAIN = `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include relay.conf;
}
`;

/** The shipped file with other addresses. A line that is not there exactly once is an error: the test would run something else. */
function withAddresses(file: string, replaced: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(SHIPPED, file), 'utf8');
  for (const [line, other] of Object.entries(replaced)) {
    const parts = text.split(`\n  ${line}\n`);
    if (parts.length !== 2) throw new Error(`${file} has "${line}" ${parts.length - 1} times`);
    text = parts.join(`\n  ${other}\n`);
  }
  return text;
}

interface ProxySetup {
  readonly port: number;
  readonly files: Readonly<Record<string, string>>;
  readonly command: readonly [string, ...string[]];
}

async function startProxy({ port, files, command: [program, ...args] }: ProxySetup): Promise<ReverseProxy> {
  const directory = mkdtempSync(join(tmpdir(), `relay-${program}-`));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const child = spawn(program, args, {
    cwd: directory,
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.on('error', (error) => (errors += error.message));
  // Not SIGKILL, which nginx's workers would outlive.
  const end = () => void child.kill('SIGTERM');
  process.once('exit', end);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const url = `http://127.0.0.1:${port}`;
  async function stop(): Promise<void> {
    process.off('exit', end);
    end();
    await closed;
    rmSync(directory, { recursive: true, force: true });
  }
  const answers = async () => (await fetch(`${url}/readyz`)).status === 200;
  if (await until(answers, START_MS_MAX)) return { url, stop };
  await stop();
  throw new Error(`${program} does not answer:\n${errors}`);
}
