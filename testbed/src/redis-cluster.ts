import { type PrivateRedis, startRedis } from './private-redis.ts';
import { redisCall } from './redis-client.ts';

export interface RedisCluster {
  readonly urls: readonly string[];
  readonly nodes: readonly PrivateRedis[];
  remove(): Promise<void>;
}

const SLOTS = 16_384;

/** Masters that share the slots evenly, without replicas. Resolves when every node sees the whole cluster. */
export async function startRedisCluster(options: { masters?: number } = {}): Promise<RedisCluster> {
  const masters = options.masters ?? 3;
  const nodes: PrivateRedis[] = [];
  const remove = async () => {
    await Promise.all(nodes.map((node) => node.remove()));
  };
  try {
    for (let index = 0; index < masters; index += 1) {
      const node = await startRedis({ cluster: true });
      nodes.push(node);
      const first = Math.floor((index * SLOTS) / masters);
      const last = Math.floor(((index + 1) * SLOTS) / masters) - 1;
      await redisCall(node.port, 'CLUSTER', 'ADDSLOTSRANGE', String(first), String(last));
      await redisCall(node.port, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      const [head] = nodes;
      if (head !== undefined && head !== node) {
        await redisCall(node.port, 'CLUSTER', 'MEET', '127.0.0.1', String(head.port));
      }
    }
    await Promise.all(nodes.map((node) => untilWhole(node.port, masters)));
  } catch (error) {
    await remove();
    throw error;
  }
  return { urls: nodes.map((node) => node.url), nodes, remove };
}

async function untilWhole(port: number, masters: number): Promise<void> {
  const endMs = performance.now() + 30_000;
  for (;;) {
    const info = String(await redisCall(port, 'CLUSTER', 'INFO'));
    if (info.includes('cluster_state:ok') && info.includes(`cluster_size:${masters}`)) return;
    if (performance.now() > endMs) throw new Error(`the Redis cluster did not form:\n${info}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
