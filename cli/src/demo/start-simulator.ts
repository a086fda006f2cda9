import type { ScriptRule } from '@relay/provider-sim';
import { codeOf } from '../kit/values.ts';
import { type DemoAddresses, LARGE_MODEL, SMALL_MODEL } from './demo-objects.ts';
import type { DemoPorts } from './demo-state.ts';

export interface Simulator {
  readonly addresses: DemoAddresses;
  readonly ports: DemoPorts;
  close(): Promise<void>;
}

const SAYS =
  "Hello from Relay's demo. No model wrote this: a simulated provider sends the same text for every prompt, so that you can " +
  'watch routing, limits and costs. Add a provider to get real responses.';

/** Visible delays; every sixth request to the large model is throttled. */
const BEHAVIOUR: readonly ScriptRule[] = [
  { match: { model: LARGE_MODEL, every: 6 }, fault: { status: 429, retryAfter: 1 }, persistent: true },
  { match: { model: LARGE_MODEL }, fault: { delayMs: 180, frameDelayMs: 20, says: SAYS }, persistent: true },
  { match: { model: SMALL_MODEL }, fault: { delayMs: 60, frameDelayMs: 8, says: SAYS }, persistent: true },
];
const LOG_ENTRIES_MAX = 100;

/** Starts the simulated provider and its guardrail, on the previous ports if they are free. */
export async function startSimulator(before: DemoPorts | null): Promise<Simulator> {
  // Loaded here, because no other command needs it.
  const { startGuardrailSim, startProviderSim } = await import('@relay/provider-sim');
  const models = [LARGE_MODEL, SMALL_MODEL].map((id) => ({ id, dimensions: 64 }));
  const provider = await onPort(before?.provider, (port) =>
    startProviderSim({ port, models, bodies: 'none', logEntriesMax: LOG_ENTRIES_MAX }),
  );
  provider.script(...BEHAVIOUR);
  const guardrail = await onPort(before?.guardrail, (port) =>
    startGuardrailSim({ port, logEntriesMax: LOG_ENTRIES_MAX }),
  );
  return {
    addresses: { provider: provider.baseUrl, guardrail: guardrail.urlOf('judge') },
    ports: { provider: provider.port, guardrail: Number(new URL(guardrail.url).port) },
    async close() {
      await Promise.all([provider.close(), guardrail.close()]);
    },
  };
}

async function onPort<T>(wanted: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(wanted ?? 0);
  } catch (error) {
    if (wanted === undefined || codeOf(error) !== 'EADDRINUSE') throw error;
    return start(0);
  }
}
