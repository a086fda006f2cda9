import type { ClusterNodes } from './cluster-nodes.ts';
import type { RedisNode, RedisNodeOptions } from './redis-node.ts';
import { slotOf } from './redis-slot.ts';
import { readSlotTable, type SlotTable } from './slot-table.ts';

const REFRESH_EVERY_MS_MIN = 250;

/** Which node serves a slot, as the cluster last reported it. */
export interface ClusterSlots {
  ownerOf(routingKey: string): RedisNode | undefined;
  masters(): readonly RedisNode[];
  /** A redirect named the owner of a slot. */
  moved(slot: number, to: RedisNode): void;
  /** Reads the table again soon. Calls within a short time cause one read. */
  refreshSoon(): void;
  isClosed(): boolean;
  close(): void;
}

export function createClusterSlots(
  nodes: ClusterNodes,
  options: Pick<RedisNodeOptions, 'clock' | 'log' | 'random' | 'onFault'>,
  onAdopted: () => void,
): ClusterSlots {
  const { clock, log, random = Math.random, onFault } = options;
  let owners: SlotTable = [];
  let masters: readonly RedisNode[] = [];
  let refreshedAtMs = Number.NEGATIVE_INFINITY;
  let refreshTimer: NodeJS.Timeout | undefined;
  let refreshing = false;
  let closed = false;

  function refreshSoon(): void {
    if (closed || refreshing || refreshTimer !== undefined) return;
    const delayMs = refreshedAtMs + REFRESH_EVERY_MS_MIN - clock.monotonicMs();
    refreshTimer = setTimeout(
      () => {
        refreshTimer = undefined;
        void refresh();
      },
      Math.max(0, delayMs),
    );
    refreshTimer.unref();
  }

  async function refresh(): Promise<void> {
    refreshing = true;
    const found = await readSlotTable({ nodes, random, log, onFault, isClosed: () => closed });
    refreshing = false;
    refreshedAtMs = clock.monotonicMs();
    if (closed) return;
    if (found !== null) return adopt(found);
    // No known node answers. Host names may resolve differently by now, so the configured nodes are tried again.
    nodes.openSeeds();
    refreshSoon();
  }

  function adopt(table: SlotTable): void {
    const used = new Set(table.filter((node) => node !== undefined));
    owners = table;
    masters = [...used];
    nodes.keepOnly(used);
    onAdopted();
  }

  return {
    ownerOf: (routingKey) => owners[slotOf(routingKey)],
    masters: () => masters,
    moved(slot, to) {
      owners[slot] = to;
      refreshSoon();
    },
    refreshSoon,
    isClosed: () => closed,
    close() {
      closed = true;
      clearTimeout(refreshTimer);
    },
  };
}
