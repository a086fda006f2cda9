import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { allScopes } from '@relay/contract';
import { windowStartMs } from '../admission/calendar-window.ts';
import { type AdmissionDesk, createDesk } from '../admission/desk.ts';
import type { AdmissionAsk, Opening } from '../admission/engine.ts';
import { createEndpointHealth } from '../admission/health/endpoint-health.ts';
import { createMemoryHealthStore } from '../admission/health/health-store.ts';
import { relayTo } from '../admission/line.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createMemoryEngine } from '../admission/memory/engine.ts';
import type { Caller } from '../domain/caller.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { METRICS } from '../domain/limits/metric.ts';
import { isSliding } from '../domain/limits/period.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import { createAskGuardrail } from '../guardrails/ask-guardrail.ts';
import { createBodyMemory } from '../http/body-memory.ts';
import { type OpenWork, stopOpenWork } from '../http/open-work.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { DeadlineWheel } from '../kit/deadline-wheel.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createFairSlices } from '../kit/fair-slices.ts';
import { createLog } from '../kit/log.ts';
import { createOneAtATime } from '../kit/one-at-a-time.ts';
import { createShares } from '../kit/shares.ts';
import type { Tracer } from '../kit/tracing/tracer.ts';
import { createUpstreamAuth } from '../protocols/upstream-auth/create-upstream-auth.ts';
import { watchSilence } from './dispatch/provider-silence.ts';
import { createInferenceHandler } from './handler.ts';
import { createTypicalUse } from './settle/typical-use.ts';

const BODY_BYTES_MAX = 20 * 1024 * 1024;
/** The organization alone gets a half. */
export const WAITING_PLACES = 40;

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
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
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
      const text = Buffer.concat(chunks).toString('utf8');
      const body = JSON.parse(text) as Record<string, unknown>;
      const entry = { path: incoming.url ?? '', headers: incoming.headers, text, body };
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

export interface Sent {
  /** Null when the client disconnected before the end of an answer. */
  readonly answered: Promise<Answered | null>;
  /** What has come so far. */
  heard(): string;
  leave(): void;
}

/** For tests: the data plane with the limits engine in memory and a configuration that the test sets. */
export interface Gateway {
  readonly url: string;
  /** The snapshot that the next request gets. */
  organization: OrganizationSnapshot;
  /** Whose key the next request has. */
  callerOrganization: string;
  /** What the stores hold; equal to `organization` while undefined. */
  newest: OrganizationSnapshot | undefined;
  draining: boolean;
  /** Whether the key of every request was revoked. */
  revoked: boolean;
  /** Ends every request in progress, as a process does whose drain time is up. */
  cutOff(): void;
  readonly records: RequestRecord[];
  /** Every call to the limits engine. */
  readonly asked: AdmissionAsk[];
  /** The limits engine answers an ask after this. */
  beforeAnswer: (ask: AdmissionAsk) => Promise<void> | undefined;
  readonly desk: AdmissionDesk;
  send(body: object | string, path?: string, headers?: OutgoingHttpHeaders): Sent;
  /** The used and reserved amount of the limit with this id. */
  usage(policyId: string, metric: LimitMetric, period?: LimitPeriod): Promise<number>;
  nthRecord(count: number): Promise<RequestRecord>;
  close(): Promise<void>;
}

/** A calendar window in which nothing was used. */
function emptyWindow(policy: AppliedLimit): Opening[] {
  const { period } = policy;
  if (period === 'none' || isSliding(period)) return [];
  return [{ policy, startMs: windowStartMs(period, clock.nowMs()), amount: 0 }];
}

export async function startGateway(
  organization: OrganizationSnapshot,
  tracer: Tracer | null = null,
): Promise<Gateway> {
  const log = createLog('silent');
  const records: RequestRecord[] = [];
  const asked: AdmissionAsk[] = [];
  const append = (record: string) => void records.push(JSON.parse(record) as RequestRecord);
  const engine = createMemoryEngine({
    clock,
    append: ({ record }) => append(record),
    appendExpired: () => undefined,
    line: relayTo(() => desk),
  });
  const desk: AdmissionDesk = createDesk({
    engine: {
      ...engine,
      admit(ask) {
        asked.push(ask);
        const held = gateway.beforeAnswer(ask);
        return held === undefined ? engine.admit(ask) : held.then(() => engine.admit(ask));
      },
    },
    local: createLocalCooldowns({
      clock,
      channel: { announce: () => undefined, subscribe: () => undefined },
    }),
    append: (_organizationId, record) => append(record),
    journal: { draft: () => undefined, settlement: () => undefined },
    openings: (_organizationId, limits) => Promise.resolve(limits.flatMap(emptyWindow)),
    clock,
    log,
  });
  const egress = createEgress({
    allowedCidrs: ['127.0.0.0/8'],
    connectTimeoutMs: 1_000,
    connectionsPerOriginMax: 100,
    originsMax: 10,
  });
  const open: OpenWork = new Set();
  const handler = createInferenceHandler({
    tracer,
    authenticate() {
      if (gateway.revoked) throw new RelayError('revoked_api_key');
      return { ...caller, organizationId: gateway.callerOrganization };
    },
    snapshotOf: () => gateway.organization,
    desk,
    health: createEndpointHealth({ store: createMemoryHealthStore({ clock }), clock, log }),
    egress,
    upstreamAuth: createUpstreamAuth({ clock, egress, random: Math.random }),
    slices: createFairSlices(clock, 1),
    decoding: createOneAtATime(),
    waitersMax: 10,
    waitingPlaces: createShares(WAITING_PLACES),
    clock,
    log,
    newest: {
      prepare: () => undefined,
      of: (known) => gateway.newest ?? known,
      held: (known) => gateway.newest ?? known,
    },
    askGuardrail: createAskGuardrail({ egress, clock, log }),
    typicalUse: createTypicalUse(clock),
    bodyBytesMax: BODY_BYTES_MAX,
    bodyMemory: createBodyMemory({ bytesMax: 8 * BODY_BYTES_MAX, shared: true }),
    bodyPace: null,
    attemptsMax: 3,
    publicUrl: 'https://relay.example.com',
    draining: () => gateway.draining,
    open,
    deadlines: new DeadlineWheel(clock),
    headersTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    silence: watchSilence(clock),
  });
  const server = createServer((incoming, response) => handler(incoming, response, randomUUIDv7()));
  const port = await listenOn(server);

  const gateway: Gateway = {
    url: `http://127.0.0.1:${port}`,
    organization,
    callerOrganization: caller.organizationId,
    newest: undefined,
    draining: false,
    revoked: false,
    cutOff: () => stopOpenWork(open),
    records,
    asked,
    beforeAnswer: () => undefined,
    desk,
    send: (body, path = '/v1/chat/completions', headers = {}) => sendTo(port, path, headers, body),
    async usage(policyId, metric, given = 'minute') {
      const period = METRICS[metric].held ? 'none' : given;
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

function sendTo(port: number, path: string, headers: OutgoingHttpHeaders, body: object | string): Sent {
  let text = '';
  const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers });
  const answered = new Promise<Answered | null>((resolve) => {
    sent.once('error', () => resolve(null));
    sent.once('response', (response) => {
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('error', () => resolve(null));
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
  });
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  return { answered, heard: () => text, leave: () => sent.destroy() };
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
