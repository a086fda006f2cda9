import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AbortJob, ClientJob, HungUpResult, SlowJob, WholeJob, WholeResult } from './client-jobs.ts';

const ENTRY = join(import.meta.dirname, 'client-process.ts');

export interface RunningClients<Result> {
  readonly result: Promise<Result>;
  /** Tells slow clients to hang up. */
  stop(): void;
  kill(): void;
}

export function startClients(job: WholeJob): RunningClients<WholeResult>;
export function startClients(job: SlowJob | AbortJob): RunningClients<HungUpResult>;
export function startClients(job: ClientJob): RunningClients<unknown> {
  const child = spawn(process.execPath, [ENTRY, JSON.stringify(job)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const killOnExit = () => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const said = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const failed = once(child, 'exit').then(([code]) => {
    process.off('exit', killOnExit);
    if (code !== 0) throw new Error(`the clients' process exited with ${String(code)}`);
    return said;
  });
  const result = Promise.race([said, failed]).then(([line]) => JSON.parse(line) as unknown);
  // Avoids an unhandled rejection when killed clients send no result.
  result.catch(() => undefined);
  return {
    result,
    stop: () => void child.stdin.write('stop\n'),
    kill: killOnExit,
  };
}
