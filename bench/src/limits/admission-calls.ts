import { randomUUIDv7 } from 'node:crypto';
import { createClient } from '@redis/client';
import { type CommandFor, commandTemplate } from './command-template.ts';
import { openEngine } from './engine-of-checkout.ts';
import { createTraffic } from './organization-traffic.ts';

/** The two calls that a request under limits costs when nothing is batched, with nothing around them. */
export interface AdmissionCalls {
  admit(operationId: string): Promise<unknown>;
  settle(operationId: string): Promise<unknown>;
  close(): void;
}

/**
 * Records the commands that the engine of a checkout sends for one request, and sends the same for every other: the product's
 * scripts and arguments, over a connection that is set up as the product's, without the product's work around them.
 */
export async function createAdmissionCalls(
  root: string,
  url: string,
  candidates: number,
): Promise<AdmissionCalls> {
  const client = createClient({
    url,
    commandOptions: { timeout: 0 },
    commandsQueueMaxLength: 10_000,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  client.on('error', (error: unknown) => {
    throw error;
  });
  await client.connect();
  const { admit, settle } = await recordCalls(root, url, candidates);
  return {
    admit: (operationId) => client.sendCommand(admit(operationId)),
    settle: (operationId) => client.sendCommand(settle(operationId)),
    close: () => client.destroy(),
  };
}

/** The commands of one request. */
async function recordCalls(root: string, url: string, candidates: number) {
  const sent: (readonly string[])[] = [];
  const engine = await openEngine(root, url, (command) => sent.push(command));
  const traffic = createTraffic(Date.now(), candidates);

  /** The last command of a call: a script that the server does not know yet is sent again, whole. */
  async function templateOf(operationId: string, call: () => Promise<unknown>): Promise<CommandFor> {
    sent.length = 0;
    await call();
    const command = sent.at(-1);
    if (command === undefined) throw new Error('the engine sent nothing');
    return commandTemplate(command, operationId);
  }

  async function record() {
    const id = randomUUIDv7();
    const admit = await templateOf(id, async () => {
      const { kind } = await engine.port.admit(traffic.ask(id));
      if (kind !== 'admitted') throw new Error(`a request was not admitted: ${kind}`);
    });
    return { admit, settle: await templateOf(id, () => engine.port.settle(traffic.settlement(id))) };
  }

  try {
    await engine.port.initialize(traffic.organizationId, traffic.openings);
    // The first makes the scripts known, so that the second is what the product sends from then on.
    await record();
    return await record();
  } finally {
    await engine.close();
  }
}
