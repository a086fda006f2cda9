/** An entry of a list in order of use. */
export interface UsedEntry<Entry> {
  older: Entry | null;
  newer: Entry | null;
}

/** Entries in order of use, as a linked list: moving one allocates nothing. */
export interface UseOrder<Entry> {
  add(entry: Entry): void;
  /** Makes the entry the most recently used. */
  use(entry: Entry): void;
  remove(entry: Entry): void;
  oldest(): Entry | null;
}

export function createUseOrder<Entry extends UsedEntry<Entry>>(): UseOrder<Entry> {
  let oldest: Entry | null = null;
  let newest: Entry | null = null;

  function add(entry: Entry): void {
    entry.older = newest;
    if (newest === null) oldest = entry;
    else newest.newer = entry;
    newest = entry;
  }

  function remove(entry: Entry): void {
    if (entry.older === null) oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === null) newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = null;
    entry.newer = null;
  }

  return {
    add,
    use(entry) {
      if (entry === newest) return;
      remove(entry);
      add(entry);
    },
    remove,
    oldest: () => oldest,
  };
}
