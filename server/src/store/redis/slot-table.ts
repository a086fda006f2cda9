import { ErrorReply } from '@redis/client';
import { reasonOf } from '../store-health.ts';
import type { StoreLog } from '../store-log.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import type { RedisNode } from './redis-node.ts';
import { SLOTS } from './redis-slot.ts';

/** The owner of each slot. */
export type SlotTable = (RedisNode | undefined)[];

/**
 * Asks the connected nodes for the slot table, one after the other from a random one on. Null when none of them returns it, or
 * the cluster was closed meanwhile.
 */
export async function readSlotTable(deps: {
  readonly nodes: ClusterNodes;
  readonly random: () => number;
  readonly log: StoreLog;
  readonly onFault: ((error: unknown) => void) | undefined;
  readonly isClosed: () => boolean;
}): Promise<SlotTable | null> {
  const connected = deps.nodes.connected();
  const first = Math.floor(deps.random() * connected.length);
  for (const node of [...connected.slice(first), ...connected.slice(0, first)]) {
    try {
      const reply = await node.run(['CLUSTER', 'SLOTS']);
      if (deps.isClosed()) return null;
      const table = toTable(reply, node, deps.nodes);
      if (table.length > 0) return table;
    } catch (error) {
      deps.onFault?.(error);
      if (error instanceof ErrorReply)
        deps.log.warn({ reason: reasonOf(error), server: node.host }, 'Redis returned no cluster slots');
    }
  }
  return null;
}

function toTable(reply: unknown, asked: RedisNode, nodes: ClusterNodes): SlotTable {
  const table: SlotTable = [];
  for (const [from, to, master] of reply as [number, number, [string | null, number]][]) {
    const node = nodes.at(hostOr(master[0], asked), master[1]);
    for (let slot = from; slot <= to && slot < SLOTS; slot += 1) table[slot] = node;
  }
  return table;
}

/** A node that does not know its own address leaves it out; the address that reached it applies. */
export function hostOr(host: string | null, asked: RedisNode): string {
  return host === null || host === '' || host === '?' ? asked.host : host;
}
