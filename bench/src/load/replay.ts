import { setTimeout as sleep } from 'node:timers/promises';
import { type CoreUse, startCoreUse } from '../cpu-time.ts';
import type { Gateway } from '../gateways/gateway.ts';
import { GATEWAY_CORE } from '../pinned-process.ts';
import { type ClientConnection, openConnection, requestBytes } from './client-connection.ts';

/** One request, sent a fixed number of times: how quick the gateway is does not decide what falls into a slice. */
export interface Replay {
  readonly body: Buffer;
  readonly requests: number;
  readonly connections: number;
}

export interface ReplaySlice extends CoreUse {
  readonly requests: number;
  readonly frames: number;
}

/** Connections find their upstream counterparts before the first reading; settlements end before the second. */
const REST_MS = 30;

/** CPU time is the gateway's, user and system, all threads, for the requests alone: connections are opened before and closed after. */
export async function replaySlice(gateway: Gateway, replay: Replay): Promise<ReplaySlice> {
  const { port, pid, headers } = gateway;
  const request = requestBytes(port, headers, replay.body);
  const connections: ClientConnection[] = [];
  let [sent, answered, frames] = [0, 0, 0];
  const over = Promise.withResolvers<void>();
  const sendNext = (connection: ClientConnection): void => {
    if (sent === replay.requests) return;
    sent += 1;
    connection.send(request);
  };
  const events = {
    onResponse(connection: ClientConnection) {
      answered += 1;
      frames += connection.reader.frames;
      if (answered === replay.requests) over.resolve();
      else sendNext(connection);
    },
    onFailure: over.reject,
  };
  try {
    while (connections.length < replay.connections) connections.push(await openConnection(port, events));
    await sleep(REST_MS);
    const use = startCoreUse(pid, GATEWAY_CORE);
    connections.forEach(sendNext);
    await over.promise;
    await sleep(REST_MS);
    return { ...use(), requests: answered, frames };
  } finally {
    for (const connection of connections) connection.close();
  }
}
