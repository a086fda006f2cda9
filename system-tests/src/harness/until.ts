import { ContractFault } from './contract-fault.ts';

const LOOK_EVERY_MS = 25;

/** Polls until the condition holds or the time is over; returns whether it held. A failing check counts as false. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  waitMsMax: number,
  everyMs = LOOK_EVERY_MS,
): Promise<boolean> {
  const endMs = performance.now() + waitMsMax;
  for (;;) {
    try {
      if (await holds()) return true;
    } catch (error) {
      if (error instanceof ContractFault) throw error;
      // The store may be unavailable for the moment.
    }
    if (performance.now() > endMs) return false;
    await afterMs(everyMs);
  }
}

export function afterMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
