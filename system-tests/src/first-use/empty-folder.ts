import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder as on a new machine: with its own home and folder for temporary files. */
export interface EmptyFolder {
  readonly path: string;
  /** What is in it, in the home, and among the temporary files. */
  left(): { readonly folder: string[]; readonly home: string[]; readonly temporary: string[] };
  env(more?: Readonly<Record<string, string>>): Record<string, string>;
  run(command: string, more?: Readonly<Record<string, string>>): Promise<Ran>;
  remove(): void;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

const RUN_MS_MAX = 300_000;
/** Settings of this process that would reach the product or change where npm believes it is. */
const NOT_PASSED_ON = /^(RELAY_|DATABASE_URL|REDIS_URL|NODE_TEST_CONTEXT|NODE_OPTIONS|XDG_|INIT_CWD|npm_)/i;

export function createEmptyFolder(): EmptyFolder {
  const world = mkdtempSync(join(tmpdir(), 'relay-first-use-'));
  const path = join(world, 'folder');
  const home = join(world, 'home');
  const temporary = join(world, 'temporary');
  for (const each of [path, home, temporary]) mkdirSync(each);
  const npm = npmSettings();
  const env: EmptyFolder['env'] = (more = {}) => ({
    ...passedOn(process.env),
    HOME: home,
    TMPDIR: temporary,
    ...npm,
    ...more,
  });
  return {
    path,
    env,
    left: () => ({
      folder: readdirSync(path).sort(),
      home: readdirSync(home).sort(),
      temporary: readdirSync(temporary).sort(),
    }),
    async run(command, more) {
      const startedMs = performance.now();
      const child = spawn('bash', ['-c', command], {
        cwd: path,
        env: env(more),
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: RUN_MS_MAX,
      });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, stdout, stderr, seconds: (performance.now() - startedMs) / 1_000 };
    },
    remove: () => rmSync(world, { recursive: true, force: true }),
  };
}

function passedOn(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || NOT_PASSED_ON.test(name) ? [] : [[name, value]],
    ),
  );
}

/** The machine's own way to packages, and what it has of them already: the network is not what is measured. */
function npmSettings(): Record<string, string> {
  const ask = (name: string) =>
    execFileSync('npm', ['config', 'get', name], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  return {
    npm_config_cache: ask('cache'),
    npm_config_userconfig: ask('userconfig'),
    npm_config_registry: ask('registry'),
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
}
