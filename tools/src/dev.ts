// `npm run dev`: the server, a simulated provider and the console from source. A changed file restarts what it is part of; an
// open page updates components of the console in place, and reloads for other changes, such as those of texts.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectTo, createDatabase } from './dev/create-database.ts';
import { type DevSecrets, devSecrets } from './dev/dev-secrets.ts';
import { findBusyPorts } from './dev/find-busy-ports.ts';

const ROOT = join(import.meta.dirname, '../..');
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');
const SECRETS_FILE = '.cache/dev.json';
const DATABASE = 'relay_dev';
const SERVER_URL = 'postgres://postgres@127.0.0.1:5432';
const LANE = 'default';

const OPTIONS = {
  port: { type: 'string', default: '8080' },
  'sim-port': { type: 'string', default: '9090' },
  'console-port': { type: 'string', default: '5173' },
} as const;

const USAGE = `usage: npm run dev [-- --port=N --sim-port=N --console-port=N]
Starts the server (all roles), a simulated provider in the lane "${LANE}", and the console, and prints their addresses when they
respond. Restarts the first two when a source file changes; an open page of the console updates or reloads.
  --port=N          where the server listens on 127.0.0.1 (default 8080)
  --sim-port=N      where the simulated provider listens (default 9090)
  --console-port=N  where the console is served from source (default 5173)
Uses DATABASE_URL and REDIS_URL if they are set. Otherwise, uses PostgreSQL and Redis on 127.0.0.1 at their usual
ports, with the database "${DATABASE}", and creates it if it doesn't exist.
The first start generates tokens and the master key, and keeps them in ${SECRETS_FILE}.
`;

function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdout: 'inherit' | 'ignore' = 'inherit',
): ChildProcess {
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', stdout, 'inherit'] });
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

/** Returns false if it was stopped first. A process that a mistake ended responds after the next change. */
async function allRespond(urls: readonly string[], stopped: AbortSignal): Promise<boolean> {
  for (const url of urls)
    while (!stopped.aborted) {
      const response = await fetch(url).catch(() => null);
      if (response !== null && response.status !== 503) break;
      await sleep(200);
    }
  return !stopped.aborted;
}

function environment(port: string, consolePort: string, secrets: DevSecrets): NodeJS.ProcessEnv {
  const server = `http://127.0.0.1:${port}`;
  return {
    DATABASE_URL: `${SERVER_URL}/${DATABASE}`,
    REDIS_URL: 'redis://127.0.0.1:6379',
    RELAY_HTTP_ADDR: `127.0.0.1:${port}`,
    RELAY_API_TOKEN: secrets.apiToken,
    RELAY_ADMIN_TOKEN: secrets.adminToken,
    RELAY_MASTER_KEY: secrets.masterKey,
    RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    RELAY_LAME_DUCK_MS: '0',
    // The console's page comes from here; the server accepts changes from this origin only.
    RELAY_PUBLIC_URL: `http://127.0.0.1:${consolePort}`,
    // For the console, and for the command that adds the provider.
    RELAY_URL: server,
    RELAY_SERVER: server,
    SIMULATED_KEY: 'any',
    ...process.env,
  };
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { values: ports } = parseArgs({ args: [...args], options: OPTIONS });
  const busy = await findBusyPorts(ports);
  if (busy.length > 0) throw new Error(`in use: ${busy.join(', ')}; choose others with these options`);
  const databaseUrl = process.env['DATABASE_URL'];
  if (databaseUrl === undefined) await createDatabase(SERVER_URL, DATABASE);
  else await (await connectTo(databaseUrl)).end();

  const env = environment(ports.port, ports['console-port'], devSecrets(join(ROOT, SECRETS_FILE)));
  const server = `http://127.0.0.1:${ports.port}`;
  const page = `${env['RELAY_PUBLIC_URL']}/console/`;
  const provider = `http://127.0.0.1:${ports['sim-port']}/v1`;
  const viteArgs = [
    '--host',
    '127.0.0.1',
    '--port',
    ports['console-port'],
    '--strictPort',
    '--logLevel',
    'warn',
  ];
  const children = [
    start(['--watch', 'provider-sim/src/main.ts', '--port', ports['sim-port']], env, 'ignore'),
    // It migrates the database before it listens.
    start(['--watch', 'cli/bin/relay.js', 'serve', '--role', 'all'], env),
    start([VITE, 'console', '--config', 'console/vite.config.ts', ...viteArgs], env),
  ];
  const stopping = new AbortController();
  const stop = () => {
    stopping.abort();
    for (const child of children) child.kill('SIGTERM');
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const codes = children.map(async (child) => {
    const code = await ended(child);
    // Ends all when one ends.
    stop();
    return code;
  });
  if (await allRespond([provider, `${server}/readyz`, page], stopping.signal)) {
    const add = `providers add openai --name Simulated-${ports['sim-port']} --base-url ${provider} --lane ${LANE}`;
    const more = ['--model', 'sim-chat', '--secret-env', 'SIMULATED_KEY'];
    await ended(start(['cli/bin/relay.js', ...add.split(' '), ...more], env, 'ignore'));
    const body = JSON.stringify({ model: LANE, messages: [{ role: 'user', content: 'Hello' }] });
    process.stdout.write(`
ready
console             ${page} (sign in with the admin token ${env['RELAY_ADMIN_TOKEN']})
server              ${server}
simulated provider  ${provider}
first request       curl ${server}/v1/chat/completions -H 'Authorization: Bearer ${env['RELAY_API_TOKEN']}' -H 'Content-Type: application/json' -d '${body}'
`);
  }
  return Math.max(...(await Promise.all(codes)));
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
