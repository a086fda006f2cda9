import { ErrorReply } from '@redis/client';
import { durationWords } from '@relay/contract/words';
import { storeUnavailable } from '../store-error.ts';
import { type ClusterNodes, createClusterNodes } from './cluster-nodes.ts';
import { type ClusterSlots, createClusterSlots } from './cluster-slots.ts';
import { createReadyWaiters } from './ready-waiters.ts';
import { COMMAND_TIMEOUT_MS, type RedisNode, type RedisNodeOptions, type RedisState } from './redis-node.ts';
import { hostOr } from './slot-table.ts';

/** Each redirection is a command with its own deadline, so the number bounds the time as well. */
const REDIRECTIONS_MAX = 3;

export interface RedisCluster {
  run(command: readonly string[], routingKey?: string): Promise<unknown>;
  state(): RedisState;
  whenReady(timeoutMs: number): Promise<void>;
  masters(): readonly RedisNode[];
  /** The server that has the slot of a key, as far as known. */
  urlOf(key: string): string | undefined;
  refreshSoon(): void;
  close(): void;
}

/**
 * The masters of a cluster. Each is a node with its own breaker and deadlines, so a lost or frozen node fails only its own
 * slots. Relay reads the slot table again whenever a node fails or redirects.
 */
export function createRedisCluster(
  seeds: readonly string[],
  options: RedisNodeOptions,
  events: { readonly onSlots: () => void; readonly onConnected: () => void },
): RedisCluster {
  const { commandTimeoutMs = COMMAND_TIMEOUT_MS, random = Math.random } = options;
  const waiters = createReadyWaiters();
  const nodes = createClusterNodes(seeds, options, nodeIsReady);
  const slots = createClusterSlots(nodes, options, () => {
    releaseWaiters();
    events.onSlots();
  });
  const redirect = createRedirect({ nodes, slots, commandTimeoutMs });

  function isReady(): boolean {
    const masters = slots.masters();
    return masters.length > 0 && masters.every((node) => node.state().ready);
  }

  function releaseWaiters(): void {
    if (isReady()) waiters.ready();
  }

  function nodeIsReady(): void {
    events.onConnected();
    if (slots.masters().length === 0) slots.refreshSoon();
    releaseWaiters();
  }

  function anyMaster(): RedisNode | undefined {
    const connected = slots.masters().filter((node) => node.state().ready);
    return connected[Math.floor(random() * connected.length)];
  }

  nodes.openSeeds();
  return {
    run(command, routingKey) {
      const node = routingKey === undefined ? anyMaster() : slots.ownerOf(routingKey);
      if (node === undefined) {
        slots.refreshSoon();
        return Promise.reject(storeUnavailable('redis', 'no known cluster node serves this key'));
      }
      return node.run(command).catch((error: unknown) => redirect(command, node, error, 0));
    },
    state() {
      const breakers = new Set(slots.masters().map((node) => node.state().breaker));
      const breaker = breakers.has('open') ? 'open' : breakers.has('half_open') ? 'half_open' : 'closed';
      return { ready: isReady(), breaker };
    },
    whenReady: (timeoutMs) =>
      isReady()
        ? Promise.resolve()
        : waiters.wait(timeoutMs, `could not connect to the cluster within ${durationWords(timeoutMs)}`),
    masters: slots.masters,
    urlOf: (key) => slots.ownerOf(key)?.url,
    refreshSoon: slots.refreshSoon,
    close() {
      slots.close();
      nodes.close();
    },
  };
}

interface RedirectDeps {
  readonly nodes: ClusterNodes;
  readonly slots: ClusterSlots;
  readonly commandTimeoutMs: number;
}

/** Follows a MOVED or ASK reply; every other error is thrown as it is. */
function createRedirect({ nodes, slots, commandTimeoutMs }: RedirectDeps) {
  return async function redirect(
    command: readonly string[],
    from: RedisNode,
    error: unknown,
    redirections: number,
  ): Promise<unknown> {
    if (!(error instanceof ErrorReply)) {
      slots.refreshSoon();
      throw error;
    }
    const match = /^(MOVED|ASK) (\d+) (\S*):(\d+)$/.exec(error.message);
    if (match === null) throw error;
    const [, kind, slot, host = '', port = ''] = match;
    if (redirections >= REDIRECTIONS_MAX || slots.isClosed()) throw storeUnavailable('redis', error);
    // While a slot moves, each side has only some of a script's keys, and the script would decide on those alone.
    if (kind === 'ASK' && isScript(command))
      throw storeUnavailable('redis', 'the slot is moving to another node');
    const to = nodes.at(hostOr(host, from), port);
    if (kind === 'MOVED') slots.moved(Number(slot), to);
    await to.whenReady(commandTimeoutMs);
    return to
      .run(command, kind === 'ASK')
      .catch((next: unknown) => redirect(command, to, next, redirections + 1));
  };
}

function isScript(command: readonly string[]): boolean {
  return /^(EVAL|FCALL)/i.test(command[0] ?? '');
}
