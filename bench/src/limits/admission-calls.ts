import { randomUUID } from 'node:crypto';
import type { LimitMetric } from '@relay/contract';
import { createClient } from 'redis';
import { LIMIT_VALUE, POLICIES } from './policies.ts';
import { draftText, recordText } from './request-texts.ts';
import { readScript } from './scripts.ts';

/** The two calls that a request under limits costs, with nothing around them. */
export interface AdmissionCalls {
  /** Fails when the request has to wait. */
  admit(operationId: string): Promise<void>;
  settle(operationId: string): Promise<void>;
  close(): void;
}

const PREFIX = 'relay:{s7}:';
const WAITERS_MAX = '5000';
const WAIT_MS_MAX = '5000';
const LEASE_MS = '20000';
/** What one request is estimated to take from a limit of each metric. */
const COSTS: Readonly<Record<LimitMetric, string>> = {
  requests: '1',
  tokens: '489',
  spend: '189',
  concurrency: '1',
};
const TOKENS_USED = '390';
const SPEND_USED = '140';

/** Sends the arguments that the product sends, over a connection that is set up as the product's. */
export async function createAdmissionCalls(url: string, candidates: number): Promise<AdmissionCalls> {
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
  const [admit, settle, initialize] = [readScript('admit'), readScript('settle'), readScript('initialize')];
  for (const { text } of [admit, settle, initialize]) await client.sendCommand(['SCRIPT', 'LOAD', text]);

  const organization = randomUUID();
  const endpoints = Array.from({ length: candidates }, () => randomUUID());
  const queue = `${randomUUID()}:${randomUUID()}`;
  const gateway = `${process.pid}-${randomUUID()}`;
  const policies = POLICIES.map((policy) => ({ ...policy, globalId: randomUUID() }));
  const charged = endpoints.flatMap((endpoint) => [
    endpoint,
    '1',
    String(policies.length),
    ...policies.flatMap(({ scope, metric, period, globalId }) => [
      scope === 'global' ? globalId : randomUUID(),
      metric,
      period,
      String(LIMIT_VALUE),
      COSTS[metric],
    ]),
  ]);
  const asked = ['', '0', '0', String(candidates), ...charged];
  const draft = draftText(endpoints);
  const record = recordText();

  const startOfDayMs = String(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  for (const { metric, period, globalId } of policies) {
    if (period !== 'day') continue;
    const window = [globalId, metric, period, startOfDayMs, '0'];
    await client.sendCommand(['EVALSHA', initialize.digest, '1', PREFIX, '', organization, ...window]);
  }

  return {
    async admit(operationId) {
      const args = [organization, operationId, queue, WAITERS_MAX, 'preferred', WAIT_MS_MAX, LEASE_MS];
      const reply = await client.sendCommand([
        'EVALSHA',
        admit.digest,
        '1',
        PREFIX,
        '',
        ...args,
        gateway,
        draft(operationId),
        ...asked,
      ]);
      if (!Array.isArray(reply) || reply[0] !== 'admitted') throw new Error(`not admitted: ${String(reply)}`);
    },
    async settle(operationId) {
      const args = ['', operationId, '1', TOKENS_USED, SPEND_USED, record(operationId)];
      const reply = await client.sendCommand(['EVALSHA', settle.digest, '1', PREFIX, ...args]);
      if (String(reply) !== 'settled') throw new Error(`not settled: ${String(reply)}`);
    },
    close: () => client.destroy(),
  };
}
