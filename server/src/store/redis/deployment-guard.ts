import { type DeploymentIdentity, foreignMessage, markOf, ownerIn } from '../deployment/identity.ts';
import { storeUnavailable } from '../store-error.ts';
import type { StoreLog } from '../store-log.ts';

/** In one slot of a cluster, whose nodes belong together. Each database of a server has its own. */
const KEY = 'relay:deployment';
/** Meanwhile every command is rejected, and the mark may have been missed for a moment only. */
const RECHECK_MS = 200;

type Run = (command: readonly string[], routingKey?: string) => Promise<unknown>;

/** Lets commands through to a Redis that has the mark of this deployment, and to no other. */
export interface DeploymentGuard {
  readonly run: Run;
  /**
   * Marks Redis as the deployment's, unless it has a mark, and guards it from now on; before, everything passes. Returns the other deployment that
   * it belongs to, or null. Rejects when Redis does not answer; no command passes until it has.
   */
  claim(own: DeploymentIdentity): Promise<DeploymentIdentity | null>;
  /** Reads the mark again. Rejects when Redis belongs to another deployment, or does not answer. */
  demandOwn(): Promise<void>;
  /** The other deployment that Redis belongs to, as far as known. */
  foreignOwner(): DeploymentIdentity | null;
  mayPass(): boolean;
  /** A connection was made, perhaps to another server than before. */
  connected(): void;
  close(): void;
}

export interface GuardDeps {
  readonly run: Run;
  readonly log: StoreLog;
  /** A lost master may have the mark, while others work: what was verified before stays in use. */
  readonly isCluster: boolean;
}

export function createDeploymentGuard({ run, log, isCluster }: GuardDeps): DeploymentGuard {
  let own: DeploymentIdentity | null = null;
  let foreign: DeploymentIdentity | null = null;
  let isVerified = false;
  let wasVerified = false;
  let connections = 0;

  /** A reply from before a connection was made proves nothing. */
  async function readOwner(claimant: DeploymentIdentity): Promise<DeploymentIdentity> {
    for (;;) {
      const asked = connections;
      const owner = await readMark(run, claimant);
      if (asked === connections) return owner;
    }
  }

  /** `isStart`: a refused start says the same as the log would. */
  async function look(claimant: DeploymentIdentity, isStart = false): Promise<DeploymentIdentity | null> {
    try {
      const owner = await readOwner(claimant);
      const isOwn = owner.id === claimant.id;
      if (isOwn !== (foreign === null) && !isStart) logChange(log, owner, claimant);
      foreign = isOwn ? null : owner;
      isVerified = isOwn;
      wasVerified ||= isOwn;
    } catch (error) {
      // While the master that has the mark is away, the others of a cluster stay in use.
      isVerified = isVerified || (isCluster && wasVerified && foreign === null);
      recheck.soon();
      throw error;
    }
    if (foreign !== null) recheck.soon();
    return foreign;
  }

  const recheck = createRecheck(() => {
    if (own !== null) look(own).catch(() => undefined);
  });

  function mayPass(): boolean {
    return own === null || (isVerified && foreign === null);
  }

  return {
    mayPass,
    run: (command, routingKey) => (mayPass() ? run(command, routingKey) : Promise.reject(notOwn())),
    claim(claimant) {
      own = claimant;
      return look(claimant, true);
    },
    async demandOwn() {
      if (own !== null && (await look(own)) !== null)
        throw storeUnavailable('redis', 'it belongs to another deployment');
    },
    foreignOwner: () => foreign,
    connected() {
      connections += 1;
      if (own === null) return;
      isVerified = false;
      look(own).catch(() => undefined);
    },
    close() {
      own = null;
      recheck.stop();
    },
  };
}

function createRecheck(look: () => void) {
  let timer: NodeJS.Timeout | null = null;
  return {
    soon() {
      timer ??= setTimeout(() => {
        timer = null;
        look();
      }, RECHECK_MS).unref();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

async function readMark(run: Run, claimant: DeploymentIdentity): Promise<DeploymentIdentity> {
  let mark = await run(['GET', KEY], KEY);
  if (typeof mark !== 'string') {
    // Another deployment may do the same at this moment: the mark that stays decides.
    await run(['SET', KEY, markOf(claimant), 'NX'], KEY);
    mark = await run(['GET', KEY], KEY);
  }
  if (typeof mark !== 'string') throw storeUnavailable('redis', 'the mark of the deployment was not stored');
  return ownerIn(mark);
}

function logChange(log: StoreLog, owner: DeploymentIdentity, own: DeploymentIdentity): void {
  if (owner.id === own.id) log.info({}, 'Redis belongs to this deployment again');
  else log.error({ owner, own }, messageOf(owner, own));
}

function notOwn(): Error {
  return storeUnavailable('redis', 'it is not known to be this deployment’s');
}

function messageOf(owner: DeploymentIdentity, own: DeploymentIdentity): string {
  return `${foreignMessage('Redis (REDIS_URL)', owner, own)} This process does not use it.`;
}
