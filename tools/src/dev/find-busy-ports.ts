import { once } from 'node:events';
import { createServer } from 'node:net';

/** Names the ports of the loopback address that something listens on already, each with the option that changes it. */
export async function findBusyPorts(ports: Readonly<Record<string, string>>): Promise<string[]> {
  const busy: string[] = [];
  for (const [option, port] of Object.entries(ports)) {
    const server = createServer().listen(Number(port), '127.0.0.1');
    await once(server, 'listening').catch(() => busy.push(`port ${port} (--${option}=N)`));
    server.close();
  }
  return busy;
}
