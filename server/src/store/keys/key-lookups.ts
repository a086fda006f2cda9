import type { HeldKey, HeldKeys, ReadKey } from './held-keys.ts';

export interface KeyLookups {
  /** Reads the key and holds it. Undefined when it does not exist. */
  load(publicId: string): Promise<HeldKey | undefined>;
}

/** A read that a change overtakes is repeated; the second begins after that change. */
const TRIES_MAX = 3;

/** Reads keys that are not held. Concurrent callers of one key share a read. */
export function createKeyLookups(deps: {
  readonly held: Pick<HeldKeys, 'versionOf' | 'dropOrganization' | 'add'>;
  readonly read: (publicId: string) => Promise<ReadKey | undefined>;
}): KeyLookups {
  const { held } = deps;
  const reading = new Map<string, Promise<HeldKey | undefined>>();

  async function readOnce(publicId: string): Promise<HeldKey | undefined> {
    for (let tries = 1; ; tries += 1) {
      const read = await deps.read(publicId);
      if (read === undefined) return undefined;
      const knownVersion = held.versionOf(read.organizationId) ?? 0;
      // The organization's other keys have reached a later version meanwhile, and this key may have changed up to it.
      if (read.readVersion < knownVersion && tries < TRIES_MAX) continue;
      // Still older: the database was restored from a backup, so the held keys are from its future.
      if (read.readVersion < knownVersion) held.dropOrganization(read.organizationId);
      return held.add(read);
    }
  }

  return {
    async load(publicId) {
      const joined = await reading.get(publicId);
      if (joined !== undefined) return joined;
      // "Unknown" counts only from a read that began after the call: the key may have been created meanwhile.
      const running = reading.get(publicId);
      if (running !== undefined) return running;
      const begun = readOnce(publicId).finally(() => reading.delete(publicId));
      reading.set(publicId, begun);
      return begun;
    },
  };
}
