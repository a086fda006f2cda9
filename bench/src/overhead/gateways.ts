import type { RelaySetup } from '../gateways/configure-relay.ts';
import { type Gateway, ROOT, startBareWithCalls, startEngine, startUpstream } from '../gateways/gateway.ts';
import { findPortkey, startPortkey } from '../gateways/portkey.ts';
import { startRelay } from '../gateways/relay.ts';
import { packageEntry } from '../gateways/role.ts';
import type { Settings } from './settings.ts';

/** What is measured. `before` and `before+policies` are the product of another checkout. */
export type Name =
  | 'bare'
  | 'relay'
  | 'before'
  | 'portkey'
  | 'reserialise'
  | 'bare+calls'
  | 'relay+policies'
  | 'before+policies';

export interface Gateways {
  /** Throws when the gateway was not started. */
  get(name: Name): Gateway;
  /** Those of the given ones that were started. */
  started(names: readonly Name[]): Name[];
  /** The processes that have the measured core. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const UNLIMITED = { candidates: 1, limited: false };
const LIMITED = { candidates: 1, limited: true };

/** Starts what the parts need, one after another; stops all of it when one fails. */
export async function startGateways(settings: Settings): Promise<Gateways> {
  const { parts, nodeFlags, against } = settings;
  const comparesPortkey = parts.includes('requests') || parts.includes('policies');
  const portkeyEntry = comparesPortkey ? findPortkey(settings.portkeyDirectory) : null;
  const running: { stop(): Promise<void> }[] = [];
  const gateways = new Map<Name, Gateway>();
  const stop = async (): Promise<void> => {
    await Promise.all(running.reverse().map((each) => each.stop()));
  };
  try {
    const upstream = await startUpstream();
    running.push(upstream);
    const add = async (name: Name, start: (url: string) => Promise<Gateway>): Promise<void> => {
      const gateway = await start(upstream.url);
      running.push(gateway);
      gateways.set(name, gateway);
    };
    const addRelay = async (name: Name, root: string | undefined, setup: RelaySetup): Promise<void> => {
      if (root === undefined) return;
      const entry = packageEntry(root);
      await add(name, (url) => startRelay(url, { entry, nodeFlags, setup }));
    };
    await add('bare', (url) => startEngine('bare', url, nodeFlags));
    await addRelay('relay', ROOT, UNLIMITED);
    await addRelay('before', against, UNLIMITED);
    if (parts.includes('policies') || parts.includes('latency')) {
      await addRelay('relay+policies', ROOT, LIMITED);
      await addRelay('before+policies', against, LIMITED);
    }
    if (parts.includes('policies')) await add('bare+calls', (url) => startBareWithCalls(url, nodeFlags));
    if (parts.includes('big-body'))
      await add('reserialise', (url) => startEngine('reserialise', url, nodeFlags));
    if (portkeyEntry !== null) await add('portkey', (url) => startPortkey(portkeyEntry, url));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get(name) {
      const gateway = gateways.get(name);
      if (gateway === undefined) throw new Error(`${name} was not started`);
      return gateway;
    },
    started: (names) => names.filter((name) => gateways.has(name)),
    pids: [...gateways.values()].map(({ pid }) => pid),
    stop,
  };
}
