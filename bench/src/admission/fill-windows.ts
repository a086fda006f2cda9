import { randomUUIDv7 } from 'node:crypto';
import type { EnginePort } from '../limits/engine-of-checkout.ts';
import type { OrganizationTraffic } from '../limits/organization-traffic.ts';

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/** A little less than a bucket of a window over a minute and over a second. */
const MINUTE_STEP_MS = 450;
const SECOND_STEP_MS = 45;
const CHUNK = 16;

/**
 * Gives an organization the requests that it would have sent since its last slice, so that every bucket of every window holds
 * something, as in service. Full windows cost more to read and write than empty ones. Returns the number of requests.
 */
export async function fillWindows(
  port: EnginePort,
  traffic: OrganizationTraffic,
  sinceMs: number,
): Promise<number> {
  const past = pastDispatches(sinceMs);
  for (let from = 0; from < past.length; from += CHUNK) {
    await Promise.all(
      past.slice(from, from + CHUNK).map(async ({ candidate, agoMs }) => {
        const operationId = randomUUIDv7();
        if (!(await port.restore(traffic.ask(operationId), candidate, agoMs)))
          throw new Error('the engine rejected a request from the last minute');
        await port.settle(traffic.settlement(operationId));
      }),
    );
  }
  return past.length;
}

/** From the oldest to the newest, each time at both candidates. */
export function pastDispatches(sinceMs: number): { readonly candidate: number; readonly agoMs: number }[] {
  const times: number[] = [];
  for (let agoMs = Math.min(sinceMs, MINUTE_MS - 1); agoMs > SECOND_MS; agoMs -= MINUTE_STEP_MS)
    times.push(agoMs);
  for (let agoMs = Math.min(sinceMs, SECOND_MS - 1); agoMs > 0; agoMs -= SECOND_STEP_MS) times.push(agoMs);
  return times.flatMap((agoMs) => [
    { candidate: 0, agoMs },
    { candidate: 1, agoMs },
  ]);
}
