import { createLastUses, type LastUses, type LastUsesOptions, type UsedRow } from './last-uses.ts';

/** When credentials of providers were last used. */
export interface CredentialUses extends Pick<LastUses, 'flush' | 'start' | 'stop'> {
  /** Called for every request, so it costs a look-up. Null: the request used no credential. */
  note(organizationId: string, credentialId: string | null | undefined): void;
}

/** A full memory is forgotten as a whole: a credential is then written once more than needed. */
const REMEMBERED_MAX = 50_000;

export function createCredentialUses(options: Omit<LastUsesOptions, 'table'>): CredentialUses {
  const uses = createLastUses({ ...options, table: 'credentials' });
  const remembered = new Map<string, UsedRow>();
  return {
    note(organizationId, id) {
      if (id === null || id === undefined) return;
      let row = remembered.get(id);
      if (row === undefined) {
        if (remembered.size >= REMEMBERED_MAX) remembered.clear();
        row = { organizationId, id, lastUsedAtMs: 0 };
        remembered.set(id, row);
      }
      uses.note(row);
    },
    flush: uses.flush,
    start: uses.start,
    stop: uses.stop,
  };
}
