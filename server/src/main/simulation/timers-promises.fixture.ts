/** Stands for `node:timers/promises` while the simulation runs: its timers are those of the simulation. */
export function setTimeout<T>(delayMs = 1, value?: T): Promise<T | undefined> {
  return new Promise((resolve) => {
    globalThis.setTimeout(() => resolve(value), delayMs);
  });
}

export function setImmediate<T>(value?: T): Promise<T | undefined> {
  return new Promise((resolve) => {
    globalThis.setImmediate(() => resolve(value));
  });
}
