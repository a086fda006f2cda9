import { createRandom } from '../chaos/random.ts';
import type { Deployment } from '../harness/deployment.ts';
import { sendTagged } from '../harness/tagged-request.ts';
import { afterMs } from '../harness/until.ts';

const SEED = 22;
const PER_SECOND = 20;
/** How much more is sent in a busy second than in a quiet one. */
const QUIET = 0.3;
const BUSY = 1.7;
const BUSY_EVERY_MS = 4_000;

interface Arrival {
  readonly atMs: number;
  readonly model: 'chat' | 'bulk';
  readonly serviceMs: number;
}

/** The same for every run: bursts that no configuration here has capacity for, and pauses in which the line empties. */
export function scheduleOf(forMs: number): readonly Arrival[] {
  const random = createRandom(SEED);
  const arrivals: Arrival[] = [];
  for (let atMs = 0; atMs < forMs; ) {
    const isBusy = Math.floor(atMs / BUSY_EVERY_MS) % 2 === 0;
    const perSecond = PER_SECOND * (isBusy ? BUSY : QUIET);
    atMs += (-Math.log(1 - random.next()) * 1_000) / perSecond;
    const model = random.chance(0.6) ? 'chat' : 'bulk';
    arrivals.push({ atMs, model, serviceMs: random.between(500, 1_500) });
  }
  return arrivals;
}

/** Sends the schedule. Resolves when all are answered; returns the statuses. */
export async function sendSchedule(
  { url, apiToken }: Deployment,
  schedule: readonly Arrival[],
): Promise<readonly number[]> {
  const startMs = performance.now();
  const answers = schedule.map(async ({ atMs, model, serviceMs }, index) => {
    await afterMs(Math.max(0, atMs - (performance.now() - startMs)));
    const sim = { delayMs: serviceMs };
    const { answer } = sendTagged({ url, token: apiToken, model, tag: `what-if-${index}`, sim });
    return (await answer).status;
  });
  return Promise.all(answers);
}
