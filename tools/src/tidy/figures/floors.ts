/** Which node imports which: every arrow once, however many files it stands for. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** Up to this many nodes in one cycle the order is exact; beyond, it is the best that local search finds. */
const EXACT_MAX = 16;

/**
 * The arrows that still run back when the nodes are put in the order that leaves the fewest of them. Only nodes
 * on a cycle can have such arrows, so each strongly connected component is ordered by itself.
 */
export function backArrows(arrows: Arrows): readonly (readonly [from: string, to: string])[] {
  return components(arrows)
    .filter((nodes) => nodes.length > 1)
    .flatMap((nodes) => {
      const order = nodes.length <= EXACT_MAX ? exactOrder(nodes, arrows) : searchedOrder(nodes, arrows);
      return order.flatMap((from, at) =>
        order.slice(0, at).flatMap((to) => (arrows.get(from)?.has(to) ? [[from, to] as const] : [])),
      );
    });
}

/** Strongly connected components (Tarjan). */
function components(arrows: Arrows): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    let lowest = own;
    stack.push(node);
    onStack.add(node);
    for (const next of arrows.get(node) ?? []) {
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (onStack.has(next)) lowest = Math.min(lowest, index.get(next) ?? 0);
    }
    low.set(node, lowest);
    if (lowest === own) {
      const members = stack.splice(stack.indexOf(node));
      for (const member of members) onStack.delete(member);
      found.push(members.sort());
    }
    return lowest;
  };
  for (const node of arrows.keys()) if (!index.has(node)) visit(node);
  return found;
}

/**
 * Importers first. `fewest[set]` is the smallest number of back arrows when exactly the nodes of `set` stand
 * first; each step appends the node that keeps it smallest.
 */
function exactOrder(nodes: readonly string[], arrows: Arrows): string[] {
  const targets = nodes.map((from) => maskOf(nodes, arrows.get(from)));
  const full = (1 << nodes.length) - 1;
  const fewest = new Uint16Array(full + 1).fill(0xffff);
  const last = new Uint8Array(full + 1);
  fewest[0] = 0;
  for (let set = 0; set < full; set += 1) {
    for (const [node, mask] of targets.entries()) {
      if (set & (1 << node)) continue;
      const next = set | (1 << node);
      const count = (fewest[set] ?? 0) + bits(mask & set);
      if (count < (fewest[next] ?? 0)) {
        fewest[next] = count;
        last[next] = node;
      }
    }
  }
  const order: string[] = [];
  for (let set = full; set !== 0; set &= ~(1 << (last[set] ?? 0))) order.unshift(nodes[last[set] ?? 0] ?? '');
  return order;
}

function maskOf(nodes: readonly string[], targets: ReadonlySet<string> | undefined): number {
  return nodes.reduce((mask, node, at) => (targets?.has(node) ? mask | (1 << at) : mask), 0);
}

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/**
 * Starts with the nodes that import most and are imported least, then moves single nodes to their best place
 * until no move helps. The result is deterministic, and an upper bound of the smallest number.
 */
function searchedOrder(nodes: readonly string[], arrows: Arrows): string[] {
  const has = (from: string, to: string): number => (arrows.get(from)?.has(to) ? 1 : 0);
  const surplus = (node: string): number =>
    nodes.reduce((sum, other) => sum + has(node, other) - has(other, node), 0);
  const order = [...nodes].sort((a, b) => surplus(b) - surplus(a) || a.localeCompare(b));
  for (let improved = true; improved; ) {
    improved = false;
    for (const node of nodes) {
      const from = order.indexOf(node);
      const to = bestPlace(order, from, has);
      if (to === from) continue;
      order.splice(from, 1);
      order.splice(to, 0, node);
      improved = true;
    }
  }
  return order;
}

/** The place to which moving the node at `from` removes most back arrows; `from` when none does. */
function bestPlace(
  order: readonly string[],
  from: number,
  has: (from: string, to: string) => number,
): number {
  const node = order[from] ?? '';
  let best = from;
  let bestGain = 0;
  for (const step of [-1, 1]) {
    let gain = 0;
    for (let at = from + step; at >= 0 && at < order.length; at += step) {
      const other = order[at] ?? '';
      // Passing `other` upwards turns other → node into a back arrow and node → other into a proper one.
      gain += step * (has(other, node) - has(node, other));
      if (gain > bestGain) {
        bestGain = gain;
        best = at;
      }
    }
  }
  return best;
}
