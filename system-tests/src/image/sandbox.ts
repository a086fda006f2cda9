import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildah } from './buildah.ts';

/** What an image says about how it runs. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface Sandbox {
  readonly config: ImageConfig;
  /** The container's files, as this machine sees them. */
  readonly root: string;
  /** Starts a command as the image's user. Without one, what the image starts. */
  start(env: Readonly<Record<string, string>>, command?: readonly string[]): Contained;
  remove(): Promise<void>;
}

/** One process with its own process ids, of which it is the first, on a root that it cannot write to. */
export interface Contained {
  output(): string;
  /** Its id on this machine; null before it runs. */
  pid(): number | null;
  exited(): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
}

/**
 * What a container engine does with `--read-only --tmpfs /tmp` and a volume: the root is mounted read-only, /tmp and
 * the spool are memory. The network is this machine's.
 */
const ENTER = `
root=$1; user=$2; shift 2
/usr/bin/mount --make-rprivate /
/usr/bin/mount --bind "$root" "$root"
/usr/bin/mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
/usr/bin/mount -t tmpfs -o uid=65532,gid=65532,mode=700 tmpfs "$root/var/lib/relay"
/usr/bin/mount -t proc proc "$root/proc"
/usr/bin/mount --rbind /dev "$root/dev"
/usr/bin/mount -o remount,bind,ro "$root"
exec /usr/sbin/chroot --userspec="$user" "$root" "$@"
`;

export async function createSandbox(image: string): Promise<Sandbox> {
  const inspected = await buildah('inspect', '--type', 'image', image);
  const { config } = (JSON.parse(inspected) as { Docker: { config: ImageConfig } }).Docker;
  const container = await buildah('from', image);
  const root = await buildah('mount', container);
  // An engine makes these where an image has none.
  for (const folder of ['proc', 'dev']) mkdirSync(join(root, folder), { recursive: true });
  return {
    config,
    root,
    start(env, command = [...config.Entrypoint, ...config.Cmd]) {
      const own = Object.fromEntries(config.Env.map((each) => each.split(/=(.*)/s).slice(0, 2)));
      const enter = ['/bin/sh', '-euc', ENTER, 'enter', root, config.User, ...command];
      const child = spawn('/usr/bin/unshare', ['--mount', '--pid', '--fork', '--kill-child', ...enter], {
        env: { ...own, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return contained(child);
    },
    async remove() {
      await buildah('rm', container);
    },
  };
}

function contained(child: ChildProcess): Contained {
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = once(child, 'close').then(([code]) => {
    process.off('exit', killOnExit);
    return code as number | null;
  });
  const pid = () => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
    return children === '' ? null : Number(children);
  };
  return {
    output: () => output,
    pid,
    exited: () => exited,
    signal(signal) {
      const first = pid();
      if (first !== null) process.kill(first, signal);
    },
  };
}
