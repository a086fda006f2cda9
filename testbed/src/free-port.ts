import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems hand out by themselves: whoever listens on "any port" or connects cannot take one between
 * the look and its use. Plus 10000, where nodes of a Redis cluster talk to one another, it still is, and is nobody's else.
 */
const PORT_MIN = 12_000;
const PORT_MAX = 22_000;
const TRIES_MAX = 100;

/** A port of the loopback address that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port was found between ${PORT_MIN} and ${PORT_MAX}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
