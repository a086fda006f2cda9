import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Listens where nothing may connect, and counts connections. */
export interface Sink {
  readonly port: number;
  /** Connections since the start; complete once `settled` has been awaited. */
  connections(): number;
  /** Every connection made before this call has been counted when it returns; its own are not. */
  settled(): Promise<void>;
  close(): void;
}

const ANSWER = 'HTTP/1.1 418 Sunk\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

/** The same port on every one of the given addresses. */
export async function startSink(hosts: readonly string[]): Promise<Sink> {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const accepted = new EventEmitter();
  let connections = 0;
  let port = 0;
  for (const host of hosts) {
    const server = createServer((socket) => {
      connections += 1;
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(ANSWER));
      accepted.emit(host);
    });
    server.listen(port, host);
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    servers.push(server);
  }

  /** Connections are accepted in order, so whatever came before a probe is counted when the probe is. */
  async function probe(host: string): Promise<void> {
    const connection = connect({ host, port });
    const seen = once(accepted, host);
    await once(connection, 'connect');
    await seen;
    connections -= 1;
    connection.destroy();
  }

  return {
    port,
    connections: () => connections,
    async settled() {
      for (const host of hosts) await probe(host);
    },
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
