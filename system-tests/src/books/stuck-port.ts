import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterMs } from '../harness/until.ts';

/** The queue of a port that listens holds one more than its backlog. */
const FILLERS = 4;
const FILL_MS = 300;

const LISTEN = `
const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));
`;

/** A port whose process is stopped and whose queue is full: a connection to it is neither accepted nor refused. */
export async function startStuckPort(): Promise<{ readonly port: number; stop(): void }> {
  const child = spawn(process.execPath, ['--eval', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => void child.kill('SIGKILL');
  process.once('exit', end);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const port = Number(line);
  child.kill('SIGSTOP');
  const fillers: Socket[] = Array.from({ length: FILLERS }, () =>
    createConnection({ host: '127.0.0.1', port }).on('error', () => undefined),
  );
  await afterMs(FILL_MS);
  return {
    port,
    stop() {
      for (const each of fillers) each.destroy();
      process.off('exit', end);
      end();
    },
  };
}
