import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ephemeral range, so that no outgoing connection or listener on "any port" takes it between the check and its
 * use. Port + 10000, which nodes of a Redis cluster use among themselves, is below that range and free too.
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
