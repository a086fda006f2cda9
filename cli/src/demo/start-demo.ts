import { createApi } from '../api/client.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { createDemoObjects, DEMO_LANE, moveDemoObjects } from './demo-objects.ts';
import { type DemoPorts, readDemoState, writeDemoState } from './demo-state.ts';
import { startSimulator } from './start-simulator.ts';

/** The simulated provider and the demo's resources. */
export interface Demo {
  /** The private network the gateway must reach: only the simulated provider's address. */
  readonly privateNetworks: string;
  /** The lane for the first request. */
  readonly lane: string;
  /** Call after the gateway listens. Creates everything on the first start. */
  configure(gateway: { readonly url: string; readonly adminToken: string }): Promise<void>;
  close(): Promise<void>;
}

export async function startDemo(surroundings: Surroundings, directory: string): Promise<Demo> {
  const before = await readDemoState(directory);
  const simulator = await startSimulator(before?.ports ?? null);
  const { addresses, ports } = simulator;
  return {
    privateNetworks: '127.0.0.1/32',
    lane: DEMO_LANE,
    async configure({ url, adminToken }) {
      const tokens = { management: adminToken, inference: null };
      const { management } = createApi(surroundings, { server: url, contextName: null, tokens });
      const known = before?.created ?? null;
      if (known !== null && hasMoved(before?.ports, ports))
        await moveDemoObjects(management, known, addresses);
      const created = known ?? (await createDemoObjects(management, addresses));
      await writeDemoState(directory, { ports, created });
    },
    close: () => simulator.close(),
  };
}

function hasMoved(before: DemoPorts | undefined, now: DemoPorts): boolean {
  return before?.provider !== now.provider || before.guardrail !== now.guardrail;
}
