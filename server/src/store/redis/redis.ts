import { type ActiveShards, createActiveShards } from './active-shards.ts';
import { createDeploymentGuard, type DeploymentGuard } from './deployment-guard.ts';
import { createRedisCluster } from './redis-cluster.ts';
import { createRedisNode, type RedisNode, type RedisNodeOptions, type RedisState } from './redis-node.ts';
import { createRedisSubscriber } from './redis-subscriber.ts';
import { parseRedisUrls } from './redis-urls.ts';
import { createShardedSubscriber } from './sharded-subscriber.ts';

export interface RedisOptions extends RedisNodeOptions {
  /** One server, or comma-separated nodes of a cluster. */
  readonly url: string;
}

/** Narrow on purpose: callers do not know whether it is one server or a cluster. */
export interface Redis extends Pick<DeploymentGuard, 'claim' | 'demandOwn' | 'foreignOwner'> {
  /**
   * Sends one command and returns its reply. Throws `store_unavailable` when Redis does not answer in time; it is then
   * unknown whether the command ran. Error replies are thrown unchanged. On a cluster, the routing key selects the slot;
   * without one, any node gets the command.
   */
  run(command: readonly string[], routingKey?: string): Promise<unknown>;
  /**
   * Delivers the messages of a channel. Resolves when the subscription is active, or when Redis did not answer in time; it
   * then becomes active later. Messages published while disconnected are lost.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /**
   * Delivers the messages that are published in the slot of the channel's name, and only there. Resolves like `subscribe`.
   * `onRestored` runs when it is active again after messages may have been lost.
   */
  subscribeShard(
    channel: string,
    listener: (message: string) => void,
    onRestored: () => void,
  ): Promise<() => Promise<void>>;
  /** By the number of URLs. */
  readonly isCluster: boolean;
  /** The last reason why a connection, or the slots of a cluster, could not be had; null before the first. */
  fault(): unknown;
  /** Which shards are in use. */
  readonly shards: ActiveShards;
  /** From memory, without a command. Ready: connected, and this deployment's. For a cluster: ready when all masters are connected, with the worst breaker state of any. */
  state(): RedisState;
  /** The server, or each master of a cluster, to be asked for what is its own. */
  servers(): readonly Pick<RedisNode, 'run'>[];
  /** Resolves when it is ready; rejects after the time. */
  whenReady(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export function createRedis(given: RedisOptions): Redis {
  let fault: unknown = null;
  const options: RedisOptions = {
    ...given,
    onFault(error) {
      fault = error;
    },
  };
  const urls = parseRedisUrls(options.url);
  const server =
    urls.length > 1
      ? createRedisCluster(urls, options, {
          onSlots: () => sharded.follow(),
          onConnected: () => guard.connected(),
        })
      : createOneServer(urls[0] ?? '', options, () => guard.connected());
  const guard = createDeploymentGuard({ run: server.run, log: given.log, isCluster: urls.length > 1 });
  // Messages reach every node of a cluster, so any configured node serves.
  const subscriber = createRedisSubscriber(urls, options);
  const sharded = createShardedSubscriber({ ...options, urlOf: server.urlOf, onMoved: server.refreshSoon });
  return {
    run: guard.run,
    claim: guard.claim,
    demandOwn: guard.demandOwn,
    foreignOwner: guard.foreignOwner,
    isCluster: urls.length > 1,
    fault: () => fault,
    subscribe: subscriber.subscribe,
    subscribeShard: sharded.subscribeShard,
    shards: createActiveShards(guard.run),
    state() {
      const { ready, breaker } = server.state();
      return { ready: ready && guard.mayPass(), breaker };
    },
    servers: server.masters,
    whenReady: server.whenReady,
    async close() {
      guard.close();
      subscriber.close();
      sharded.close();
      server.close();
    },
  };
}

function createOneServer(url: string, options: RedisNodeOptions, onConnected: () => void) {
  const node = createRedisNode(url, options, onConnected);
  return {
    ...node,
    run: (command: readonly string[]) => node.run(command),
    masters: () => [node],
    urlOf: () => url,
    refreshSoon: () => undefined,
  };
}
