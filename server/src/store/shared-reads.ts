interface Reads<T> {
  readonly running: Promise<T>;
  next: Promise<T> | null;
}

/**
 * Callers who want the same thing share a read, but never one that began before they came: what was committed before
 * the call is in the answer. However many come, one read is under way and one follows it.
 */
export function createSharedReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const reads = new Map<string, Reads<T>>();

  function begin(key: string): Promise<T> {
    const entry: Reads<T> = { running: read(key), next: null };
    reads.set(key, entry);
    // Whoever comes while a next one is due joins it, so the entry stays until that one takes its place.
    const over = () => {
      if (entry.next === null) reads.delete(key);
    };
    entry.running.then(over, over);
    return entry.running;
  }

  return (key) => {
    const known = reads.get(key);
    if (known === undefined) return begin(key);
    known.next ??= known.running.then(
      () => begin(key),
      () => begin(key),
    );
    return known.next;
  };
}
