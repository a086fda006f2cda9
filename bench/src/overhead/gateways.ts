import type { RelaySetup } from '../gateways/configure-relay.ts';
import { type Gateway, ROOT, startBareWithCalls, startEngine, startUpstream } from '../gateways/gateway.ts';
import { findPortkey, startPortkey } from '../gateways/portkey.ts';
import { startRelay } from '../gateways/relay.ts';
import { packageEntry } from '../gateways/role.ts';
import type { Contestants } from '../load/replay-rounds.ts';
import { runReplaysFirst } from '../load/run-replays-first.ts';
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
  /** The processes of those of the given ones that were started. */
  started(names: readonly Name[]): Contestants<Name>;
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
  const gateways = new Map<Name, readonly Gateway[]>();
  const stop = async (): Promise<void> => {
    await Promise.all(running.reverse().map((each) => each.stop()));
  };
  try {
    const upstream = await startUpstream();
    running.push(upstream);
    const add = async (name: Name, start: () => Promise<Gateway>): Promise<void> => {
      const first = await start();
      running.push(first);
      const second = await start();
      running.push(second);
      gateways.set(name, [first, second]);
    };
    const addRelay = async (name: Name, root: string | undefined, setup: RelaySetup): Promise<void> => {
      if (root === undefined) return;
      const first = await startRelay(upstream.url, { entry: packageEntry(root), nodeFlags, setup });
      running.push(first);
      gateways.set(name, [first, await first.startCopy()]);
    };
    await add('bare', () => startEngine('bare', upstream.url, nodeFlags));
    await addRelay('relay', ROOT, UNLIMITED);
    await addRelay('before', against, UNLIMITED);
    if (parts.includes('policies') || parts.includes('latency')) {
      await addRelay('relay+policies', ROOT, LIMITED);
      await addRelay('before+policies', against, LIMITED);
    }
    if (parts.includes('policies'))
      await add('bare+calls', () => startBareWithCalls(upstream.url, nodeFlags));
    if (parts.includes('big-body'))
      await add('reserialise', () => startEngine('reserialise', upstream.url, nodeFlags));
    if (portkeyEntry !== null) await add('portkey', () => startPortkey(portkeyEntry, upstream.url));
    if (nodeFlags.length === 0) await runReplaysFirst([...gateways.values()].flat(), upstream);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    started: (names) => new Map(names.flatMap((name) => entryOf(name, gateways.get(name)))),
    pids: [...gateways.values()].flat().map(({ pid }) => pid),
    stop,
  };
}

function entryOf<K, V>(key: K, value: V | undefined): [K, V][] {
  return value === undefined ? [] : [[key, value]];
}
