// `npm run dev`: the server, a simulated provider and the console from source. A changed file restarts what it is part of; the
// browser shows a change of the console without a reload.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createDatabase } from './dev/create-database.ts';
import { devSecrets } from './dev/dev-secrets.ts';

const ROOT = join(import.meta.dirname, '../..');
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');
const SECRETS_FILE = '.cache/dev.json';
const DATABASE = 'relay_dev';
const SERVER_URL = 'postgres://postgres@127.0.0.1:5432';

const USAGE = `usage: npm run dev [-- --port=N --sim-port=N --console-port=N]
Starts the server (all roles), a simulated provider and the console. Restarts the first two when a source file changes; an
open page of the console shows its changes.
  --port=N          where the server listens on 127.0.0.1 (default 8080)
  --sim-port=N      where the simulated provider listens (default 9090)
  --console-port=N  where the console is served from source (default 5173)
Uses DATABASE_URL and REDIS_URL if they are set. Otherwise, uses PostgreSQL and Redis on 127.0.0.1 at their usual
ports, with the database "${DATABASE}", and creates it if it doesn't exist.
The first start generates tokens and the master key, and keeps them in ${SECRETS_FILE}.
`;

function start(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const option = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const port = option('port') ?? '8080';
  const simPort = option('sim-port') ?? '9090';
  const consolePort = option('console-port') ?? '5173';
  if (process.env['DATABASE_URL'] === undefined) await createDatabase(SERVER_URL, DATABASE);

  const secrets = devSecrets(join(ROOT, SECRETS_FILE));
  const env: NodeJS.ProcessEnv = {
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
    ...process.env,
  };
  const viteArgs = ['--host', '127.0.0.1', '--port', consolePort, '--strictPort', '--logLevel', 'warn'];
  const server = `http://127.0.0.1:${port}`;
  const children = [
    start(['--watch', 'provider-sim/src/main.ts', '--port', simPort], env),
    // It migrates the database before it listens.
    start(['--watch', 'cli/bin/relay.js', 'serve', '--role', 'all'], env),
    start([VITE, 'console', '--config', 'console/vite.config.ts', ...viteArgs], {
      ...env,
      RELAY_URL: server,
    }),
  ];
  process.stdout.write(
    [
      `console             http://127.0.0.1:${consolePort}/console/ (sign in with adminToken from ${SECRETS_FILE})`,
      `server              ${server} (send requests with apiToken)`,
      `simulated provider  http://127.0.0.1:${simPort}/v1`,
      '',
    ].join('\n'),
  );
  const stop = () => {
    for (const child of children) child.kill('SIGTERM');
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const codes = await Promise.all(
    children.map(async (child) => {
      const code = await ended(child);
      // Ends all when one ends.
      stop();
      return code;
    }),
  );
  return Math.max(...codes);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
