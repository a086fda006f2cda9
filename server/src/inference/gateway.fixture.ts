import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LimitMetric } from '@relay/contract';
import { allScopes } from '@relay/contract';
import { type AdmissionDesk, createDesk } from '../admission/desk.ts';
import type { AdmissionAsk } from '../admission/engine.ts';
import { createEndpointHealth } from '../admission/health/endpoint-health.ts';
import { createMemoryHealthStore } from '../admission/health/health-store.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createMemoryEngine } from '../admission/memory/engine.ts';
import type { Caller } from '../domain/caller.ts';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { METRICS } from '../domain/limits/metric.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import { createAskGuardrail } from '../guardrails/ask-guardrail.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createLog } from '../kit/log.ts';
import { createInferenceHandler } from './handler.ts';
import { createTypicalOutput } from './settle/typical-output.ts';

const caller: Caller = {
  organizationId: 'org',
  userId: 'anne',
  keyId: 'key',
  sessionId: null,
  kind: 'user_key',
  scopes: new Set(allScopes),
  access: { granted: null, permissions: new Set(allScopes), plan: 'self_hosted' },
  keyPolicies: [],
};

export interface Heard {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** A server that records requests and answers as `answer` says. */
export interface Listening {
  readonly url: string;
  readonly heard: Heard[];
  answer: (response: ServerResponse, heard: Heard) => void;
  close(): Promise<void>;
}

export async function startListening(): Promise<Listening> {
  const heard: Heard[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
      const entry = { path: incoming.url ?? '', body };
      heard.push(entry);
      listening.answer(response, entry);
    });
  });
  const port = await listenOn(server);
  const listening: Listening = {
    url: `http://127.0.0.1:${port}`,
    heard,
    answer: (response) => response.end('{}'),
    close: () => closeServer(server),
  };
  return listening;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** For tests: the data plane with the limits engine in memory and a configuration that the test sets. */
export interface Gateway {
  /** The snapshot that the next request gets. */
  organization: OrganizationSnapshot;
  /** What the stores hold; equal to `organization` while undefined. */
  newest: OrganizationSnapshot | undefined;
  draining: boolean;
  readonly records: RequestRecord[];
  /** Every call to the limits engine. */
  readonly asked: AdmissionAsk[];
  readonly desk: AdmissionDesk;
  send(body: object | string, path?: string): { answered: Promise<Answered | null>; leave(): void };
  /** The used and reserved amount of the limit with this id. */
  usage(policyId: string, metric: LimitMetric): Promise<number>;
  nthRecord(count: number): Promise<RequestRecord>;
  close(): Promise<void>;
}

export async function startGateway(organization: OrganizationSnapshot): Promise<Gateway> {
  const log = createLog('silent');
  const records: RequestRecord[] = [];
  const asked: AdmissionAsk[] = [];
  const append = (record: string) => void records.push(JSON.parse(record) as RequestRecord);
  const engine = createMemoryEngine({
    clock,
    append: ({ record }) => append(record),
    appendExpired: () => undefined,
    wake: (id) => desk.woken(id),
  });
  const desk: AdmissionDesk = createDesk({
    engine: {
      ...engine,
      admit(ask) {
        asked.push(ask);
        return engine.admit(ask);
      },
    },
    local: createLocalCooldowns({
      clock,
      channel: { announce: () => undefined, subscribe: () => undefined },
    }),
    append: (_organizationId, record) => append(record),
    journal: { draft: () => undefined, settlement: () => undefined },
    openings: () => Promise.resolve([]),
    clock,
    log,
  });
  const egress = createEgress({
    allowedCidrs: ['127.0.0.0/8'],
    connectTimeoutMs: 1_000,
    connectionsPerOriginMax: 100,
    originsMax: 10,
  });
  const handler = createInferenceHandler({
    authenticate: () => caller,
    snapshotOf: () => gateway.organization,
    desk,
    health: createEndpointHealth({ store: createMemoryHealthStore({ clock }), clock, log }),
    egress,
    waitersMax: 10,
    clock,
    log,
    newest: { prepare: () => undefined, of: (known) => gateway.newest ?? known },
    askGuardrail: createAskGuardrail({ egress, clock, log }),
    typicalOutput: createTypicalOutput(),
    bodyBytesMax: 1_000_000,
    attemptsMax: 3,
    publicUrl: 'https://relay.example.com',
    draining: () => gateway.draining,
    headersTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
  });
  const server = createServer((incoming, response) => handler(incoming, response, randomUUIDv7()));
  const port = await listenOn(server);

  const gateway: Gateway = {
    organization,
    newest: undefined,
    draining: false,
    records,
    asked,
    desk,
    send: (body, path = '/v1/chat/completions') => sendTo(port, path, body),
    async usage(policyId, metric) {
      const period = METRICS[metric].held ? 'none' : 'minute';
      const [found] = await engine.usage('org', [
        { id: policyId, metric, period, limit: 0, counts: EVERY_REQUEST },
      ]);
      return (found?.used ?? 0) + (found?.reserved ?? 0);
    },
    async nthRecord(count) {
      while (records.length < count) await new Promise((resolve) => setImmediate(resolve));
      return records[count - 1] as RequestRecord;
    },
    async close() {
      await desk.stop(1_000);
      await egress.close();
      await closeServer(server);
    },
  };
  return gateway;
}

/** Null when the client disconnected before an answer. */
function sendTo(port: number, path: string, body: object | string): ReturnType<Gateway['send']> {
  const sent = request({ port, host: '127.0.0.1', path, method: 'POST' });
  const answered = new Promise<Answered | null>((resolve) => {
    sent.once('error', () => resolve(null));
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
  });
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  return { answered, leave: () => sent.destroy() };
}

async function listenOn(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await once(server.close(), 'close');
}
