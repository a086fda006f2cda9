import { createRedisCluster } from './redis-cluster.ts';
import { createRedisNode, type RedisNodeOptions, type RedisState } from './redis-node.ts';
import { createRedisSubscriber } from './redis-subscriber.ts';
import { parseRedisUrls } from './redis-urls.ts';

export interface RedisOptions extends RedisNodeOptions {
  /** One server, or some nodes of a cluster with commas between. */
  readonly url: string;
}

/** Narrow on purpose: one server or a cluster, the callers are the same. */
export interface Redis {
  /**
   * Sends one command and answers its reply. Throws `store_unavailable` when Redis cannot answer in time, in
   * which case it is unknown whether the command ran; an error reply of the script or command is thrown as it is.
   * On a cluster, the routing key names the slot; without one, any node gets the command.
   */
  run(command: readonly string[], routingKey?: string): Promise<unknown>;
  /**
   * Tells what is published on a channel. Resolves when the subscription stands, or when Redis did not answer in
   * time: it then stands as soon as it does. What is published while there is no connection is lost.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** From memory; calls nothing. Of a cluster: all masters are connected; the worst breaker of any. */
  state(): RedisState;
  /** Resolves when it is ready, rejects when it is not within the time. */
  whenReady(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export function createRedis(options: RedisOptions): Redis {
  const urls = parseRedisUrls(options.url);
  const server =
    urls.length > 1 ? createRedisCluster(urls, options) : createOneServer(urls[0] ?? '', options);
  // Published messages reach every node of a cluster, so that any of the named ones serves.
  const subscriber = createRedisSubscriber(urls, options);
  return {
    run: server.run,
    subscribe: subscriber.subscribe,
    state: server.state,
    whenReady: server.whenReady,
    async close() {
      subscriber.close();
      server.close();
    },
  };
}

function createOneServer(url: string, options: RedisNodeOptions) {
  const node = createRedisNode(url, options);
  return { ...node, run: (command: readonly string[]) => node.run(command) };
}
