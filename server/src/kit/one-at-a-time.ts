/** Asynchronous work of several owners: what one owner asks for runs one after the other, beside that of the others. */
export type OneAtATime = <T>(owner: string, work: () => Promise<T>) => Promise<T>;

export function createOneAtATime(): OneAtATime {
  /** The end of what each owner asked for last. */
  const last = new Map<string, Promise<void>>();
  return async (owner, work) => {
    const before = last.get(owner);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    last.set(owner, over);
    try {
      await before;
      return await work();
    } finally {
      if (last.get(owner) === over) last.delete(owner);
      resolve();
    }
  };
}
