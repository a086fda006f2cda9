import { ErrorReply } from 'redis';
import { storeUnavailable } from '../store-error.ts';
import {
  COMMAND_TIMEOUT_MS,
  createRedisNode,
  type RedisNode,
  type RedisNodeOptions,
  type RedisState,
} from './redis-node.ts';
import { SLOTS, slotOf } from './redis-slot.ts';

const REFRESH_EVERY_MS_MIN = 250;
/** Each is a command with a deadline of its own, so the number bounds the time as well. */
const REDIRECTIONS_MAX = 3;

export interface RedisCluster {
  run(command: readonly string[], routingKey?: string): Promise<unknown>;
  state(): RedisState;
  whenReady(timeoutMs: number): Promise<void>;
  close(): void;
}

/**
 * The masters of a cluster, each a node with a breaker and deadlines of its own, so that one that is gone or frozen
 * costs its own slots and no others. The table of slots is asked for again whenever a node fails or redirects.
 */
export function createRedisCluster(seeds: readonly string[], options: RedisNodeOptions): RedisCluster {
  const { clock, commandTimeoutMs = COMMAND_TIMEOUT_MS, random = Math.random } = options;
  const nodes = new Map<string, RedisNode>();
  const waiting = new Set<() => void>();
  let owners: (RedisNode | undefined)[] = [];
  let masters: readonly RedisNode[] = [];
  let refreshedAtMs = Number.NEGATIVE_INFINITY;
  let refreshTimer: NodeJS.Timeout | undefined;
  let refreshing = false;
  let closed = false;

  function nodeAt(host: string, port: string | number): RedisNode {
    const url = new URL(seeds[0] ?? '');
    url.hostname = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    url.port = String(port);
    const known = nodes.get(url.host);
    if (known !== undefined) return known;
    const node = createRedisNode(url.href, options, () => nodeIsReady());
    nodes.set(url.host, node);
    return node;
  }

  function openSeeds(): void {
    for (const seed of seeds) {
      const { hostname, port } = new URL(seed);
      nodeAt(hostname, port === '' ? 6379 : port);
    }
  }

  function isReady(): boolean {
    return masters.length > 0 && masters.every((node) => node.state().ready);
  }

  function nodeIsReady(): void {
    if (masters.length === 0) refreshSoon();
    if (isReady()) for (const resolve of waiting) resolve();
  }

  /** However many commands fail in a moment, the table is asked for once. */
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
    const found = await askForSlots();
    refreshing = false;
    refreshedAtMs = clock.monotonicMs();
    if (closed) return;
    if (found !== null) return adopt(found);
    // Nobody who is known answers. Names may lead elsewhere by now, so the named nodes are tried anew.
    openSeeds();
    refreshSoon();
  }

  async function askForSlots(): Promise<(RedisNode | undefined)[] | null> {
    const connected = [...nodes.values()].filter((node) => node.state().ready);
    const first = Math.floor(random() * connected.length);
    for (const node of [...connected.slice(first), ...connected.slice(0, first)]) {
      try {
        const reply = await node.run(['CLUSTER', 'SLOTS']);
        if (closed) return null;
        const table = readTable(reply, node);
        if (table.length > 0) return table;
      } catch (error) {
        if (error instanceof ErrorReply)
          options.log.warn({ err: error, server: node.host }, 'Redis does not tell the slots of the cluster');
      }
    }
    return null;
  }

  function readTable(reply: unknown, asked: RedisNode): (RedisNode | undefined)[] {
    const table: (RedisNode | undefined)[] = [];
    for (const [from, to, master] of reply as [number, number, [string | null, number]][]) {
      const node = nodeAt(hostOr(master[0], asked), master[1]);
      for (let slot = from; slot <= to && slot < SLOTS; slot += 1) table[slot] = node;
    }
    return table;
  }

  function adopt(table: (RedisNode | undefined)[]): void {
    const used = new Set(table.filter((node) => node !== undefined));
    owners = table;
    masters = [...used];
    for (const [address, node] of nodes) {
      if (used.has(node)) continue;
      nodes.delete(address);
      // What is under way there is given its time.
      setTimeout(() => node.close(), commandTimeoutMs);
    }
    if (isReady()) for (const resolve of waiting) resolve();
  }

  function anyMaster(): RedisNode | undefined {
    const connected = masters.filter((node) => node.state().ready);
    return connected[Math.floor(random() * connected.length)];
  }

  async function redirected(
    command: readonly string[],
    from: RedisNode,
    error: unknown,
    redirections: number,
  ): Promise<unknown> {
    if (!(error instanceof ErrorReply)) {
      refreshSoon();
      throw error;
    }
    const match = /^(MOVED|ASK) (\d+) (\S*):(\d+)$/.exec(error.message);
    if (match === null) throw error;
    const [, kind, slot, host = '', port = ''] = match;
    if (redirections >= REDIRECTIONS_MAX || closed) throw storeUnavailable('redis', error);
    // A script finds only a part of its keys on either side while their slot moves, and would decide on that part.
    if (kind === 'ASK' && isScript(command))
      throw storeUnavailable('redis', 'the slot is moving to another node');
    const to = nodeAt(hostOr(host, from), port);
    if (kind === 'MOVED') {
      owners[Number(slot)] = to;
      refreshSoon();
    }
    await to.whenReady(commandTimeoutMs);
    return to
      .run(command, kind === 'ASK')
      .catch((next: unknown) => redirected(command, to, next, redirections + 1));
  }

  openSeeds();
  return {
    run(command, routingKey) {
      const node = routingKey === undefined ? anyMaster() : owners[slotOf(routingKey)];
      if (node === undefined) {
        refreshSoon();
        return Promise.reject(storeUnavailable('redis', 'no node of the cluster is known to serve this'));
      }
      return node.run(command).catch((error: unknown) => redirected(command, node, error, 0));
    },
    state() {
      const breakers = new Set(masters.map((node) => node.state().breaker));
      const breaker = breakers.has('open') ? 'open' : breakers.has('half_open') ? 'half_open' : 'closed';
      return { ready: isReady(), breaker };
    },
    whenReady(timeoutMs) {
      if (isReady()) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(ready);
          reject(storeUnavailable('redis', `the cluster is not connected within ${timeoutMs} ms`));
        }, timeoutMs);
        const ready = () => {
          clearTimeout(timer);
          waiting.delete(ready);
          resolve();
        };
        waiting.add(ready);
      });
    },
    close() {
      closed = true;
      clearTimeout(refreshTimer);
      for (const node of nodes.values()) node.close();
    },
  };
}

/** A node that does not know its own address leaves it out: it is then the one by which it was reached. */
function hostOr(host: string | null, asked: RedisNode): string {
  return host === null || host === '' || host === '?' ? asked.host : host;
}

function isScript(command: readonly string[]): boolean {
  return /^(EVAL|FCALL)/i.test(command[0] ?? '');
}
