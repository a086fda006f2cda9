const LOOK_EVERY_MS = 25;

/** Looks until it holds or the time is over, and answers whether it came to hold. A look that fails is one that does not. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  waitMsMax: number,
  everyMs = LOOK_EVERY_MS,
): Promise<boolean> {
  const endMs = performance.now() + waitMsMax;
  for (;;) {
    try {
      if (await holds()) return true;
    } catch {
      // A store that is away for the moment cannot be looked at.
    }
    if (performance.now() > endMs) return false;
    await afterMs(everyMs);
  }
}

export function afterMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
