import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type SchedulerWatch, watchScheduler } from '@relay/testbed';
import type { EmptyFolder } from './empty-folder.ts';

/** `relay start` in the foreground of a terminal of its own. */
export interface Started {
  /** Everything that was printed until it said how to stop it. */
  readonly printed: string;
  readonly startedMs: number;
  /** The time until something was printed. */
  readonly silentMs: number;
  /** Since it was started. */
  readonly watch: SchedulerWatch;
  /** Ctrl+C, which goes to every process in the foreground; over once all of them have ended. */
  interrupt(): Promise<void>;
}

/** Generous: a machine that does other work as well starts a process slowly. */
const START_MS_MAX = 180_000;
const LAST_LINE = /^ {2}Ctrl\+C stops Relay.*\n/m;

export async function start(
  folder: EmptyFolder,
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<Started> {
  const startedMs = performance.now();
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: folder.path,
    env: folder.env(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const watch = watchScheduler([{ pid: child.pid ?? 0 }]);
  const signal = (name: NodeJS.Signals) => process.kill(-(child.pid ?? 0), name);
  const killOnExit = () => signal('SIGKILL');
  process.once('exit', killOnExit);
  // npm ends immediately on the signal; its child keeps the output open until it has ended as well.
  const ended = once(child, 'close').then(() => {
    process.off('exit', killOnExit);
    watch[Symbol.dispose]();
  });
  const { printed, firstMs } = await untilPrinted(child).catch((error: unknown) => {
    if (child.exitCode === null) signal('SIGKILL');
    throw error;
  });
  return {
    printed,
    startedMs,
    silentMs: firstMs - startedMs,
    watch,
    interrupt() {
      if (child.exitCode === null && child.signalCode === null) signal('SIGINT');
      return ended;
    },
  };
}

function untilPrinted(child: ChildProcess): Promise<{ printed: string; firstMs: number }> {
  return new Promise((resolve, reject) => {
    let printed = '';
    let firstMs = 0;
    const fail = (why: string) => reject(new Error(`relay start ${why}:\n${printed}`));
    const timer = setTimeout(() => fail('did not say that it runs'), START_MS_MAX);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
    // As on a terminal, where both are shown.
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        // npm may have something to say of its own settings.
        printed += text.replaceAll(/^npm warn .*\n/gm, '');
        if (firstMs === 0 && printed !== '') firstMs = performance.now();
        if (!LAST_LINE.test(printed)) return;
        clearTimeout(timer);
        resolve({ printed, firstMs });
      });
  });
}
