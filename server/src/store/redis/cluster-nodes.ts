import { COMMAND_TIMEOUT_MS, createRedisNode, type RedisNode, type RedisNodeOptions } from './redis-node.ts';

/** The nodes of a cluster that this process is connected to, by their address. */
export interface ClusterNodes {
  /** Connects to the node if needed. */
  at(host: string, port: string | number): RedisNode;
  /** Connects to the configured nodes. */
  openSeeds(): void;
  connected(): RedisNode[];
  /** Closes all other nodes, after the time that their running commands may take. */
  keepOnly(used: ReadonlySet<RedisNode>): void;
  close(): void;
}

const DEFAULT_PORT = 6379;

/** Scheme and credentials are the same for all nodes, so the first configured one provides them. */
export function createClusterNodes(
  seeds: readonly string[],
  options: RedisNodeOptions,
  onReady: () => void,
): ClusterNodes {
  const { commandTimeoutMs = COMMAND_TIMEOUT_MS } = options;
  const nodes = new Map<string, RedisNode>();

  function at(host: string, port: string | number): RedisNode {
    const url = new URL(seeds[0] ?? '');
    url.hostname = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    url.port = String(port);
    const known = nodes.get(url.host);
    if (known !== undefined) return known;
    const node = createRedisNode(url.href, options, onReady);
    nodes.set(url.host, node);
    return node;
  }

  return {
    at,
    openSeeds() {
      for (const seed of seeds) {
        const { hostname, port } = new URL(seed);
        at(hostname, port === '' ? DEFAULT_PORT : port);
      }
    },
    connected: () => [...nodes.values()].filter((node) => node.state().ready),
    keepOnly(used) {
      for (const [address, node] of nodes) {
        if (used.has(node)) continue;
        nodes.delete(address);
        setTimeout(() => node.close(), commandTimeoutMs);
      }
    },
    close() {
      for (const node of nodes.values()) node.close();
    },
  };
}
