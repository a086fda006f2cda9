// `npm run dev`: the server from source with a simulated provider, both restarted when a file changes.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { runCommand } from './check/run-command.ts';
import { devSecrets } from './dev/dev-secrets.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECRETS_FILE = '.cache/dev.json';
const DATABASE = 'relay_dev';

const USAGE = `usage: npm run dev [-- --port=N] [-- --sim-port=N]
Starts the server (all roles) and a simulated provider, and restarts them when a source file changes.
  --port=N       where the server listens on 127.0.0.1 (default 8080)
  --sim-port=N   where the simulated provider listens (default 9090)
Uses DATABASE_URL and REDIS_URL if they are set. Otherwise, uses PostgreSQL and Redis on 127.0.0.1 at their usual
ports, with the database "${DATABASE}", and creates it if it doesn't exist.
The first start generates tokens and the master key, and keeps them in ${SECRETS_FILE}.
`;

/** Asks psql, which every machine with PostgreSQL has; an existing database is left as it is. */
async function createDatabase(serverUrl: string): Promise<void> {
  const psql = (sql: string) => runCommand('psql', [`${serverUrl}/postgres`, '-XtAc', sql], ROOT);
  const found = await psql(`select 1 from pg_database where datname = '${DATABASE}'`);
  if (!found.ok) throw new Error(`can't use PostgreSQL; start it, or set DATABASE_URL.\n${found.output}`);
  if (found.stdout.trim() === '1') return;
  const created = await psql(`create database ${DATABASE}`);
  if (!created.ok) throw new Error(`can't create the database ${DATABASE}\n${created.output}`);
}

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
  const serverUrl = 'postgres://postgres@127.0.0.1:5432';
  if (process.env['DATABASE_URL'] === undefined) await createDatabase(serverUrl);

  const secrets = devSecrets(join(ROOT, SECRETS_FILE));
  const env: NodeJS.ProcessEnv = {
    DATABASE_URL: `${serverUrl}/${DATABASE}`,
    REDIS_URL: 'redis://127.0.0.1:6379',
    RELAY_HTTP_ADDR: `127.0.0.1:${port}`,
    RELAY_API_TOKEN: secrets.apiToken,
    RELAY_ADMIN_TOKEN: secrets.adminToken,
    RELAY_MASTER_KEY: secrets.masterKey,
    RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    RELAY_LAME_DUCK_MS: '0',
    ...process.env,
  };
  const migrated = await ended(start(['cli/bin/relay.js', 'migrate', 'up'], env));
  if (migrated !== 0) return migrated;

  const children = [
    start(['--watch', 'provider-sim/src/main.ts', '--port', simPort], env),
    start(['--watch', 'cli/bin/relay.js', 'serve', '--role', 'all'], env),
  ];
  process.stdout.write(
    `server http://127.0.0.1:${port}, simulated provider http://127.0.0.1:${simPort}/v1, tokens in ${SECRETS_FILE}\n`,
  );
  const stop = () => {
    for (const child of children) child.kill('SIGTERM');
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const codes = await Promise.all(
    children.map(async (child) => {
      const code = await ended(child);
      // Ends both when one ends.
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
