interface Reads<T> {
  readonly running: Promise<T>;
  next: Promise<T> | null;
}

/**
 * Callers of the same key share a read, but never one that began before they called, so the result includes everything
 * committed before the call. At most one read runs and one follows it.
 */
export function createSharedReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const reads = new Map<string, Reads<T>>();

  function begin(key: string): Promise<T> {
    const entry: Reads<T> = { running: read(key), next: null };
    reads.set(key, entry);
    // Callers that arrive while a next read is due join it, so the entry stays until that read replaces it.
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
