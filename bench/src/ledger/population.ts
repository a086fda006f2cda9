import { randomUUID } from 'node:crypto';

/** Who sends requests, and what serves them: the ids that rows of the ledger carry. */
export interface Organization {
  readonly id: string;
  readonly providers: readonly string[];
  readonly credentials: readonly string[];
  readonly endpoints: readonly string[];
  readonly lanes: readonly string[];
  readonly users: readonly string[];
  readonly keys: readonly string[];
}

export const SIZES = { providers: 4, endpoints: 20, lanes: 5, users: 50, keys: 200 } as const;
const ORGANIZATIONS = 50;

/** The first has half of all requests. */
export function makePopulation(
  largest: Pick<Organization, 'id' | 'providers' | 'endpoints' | 'lanes'> & Partial<Organization>,
  keys: number = SIZES.keys,
): readonly Organization[] {
  const complete = (known: Partial<Organization>): Organization => ({
    id: randomUUID(),
    providers: ids(SIZES.providers),
    credentials: ids(SIZES.providers),
    endpoints: ids(SIZES.endpoints),
    lanes: ids(SIZES.lanes),
    users: ids(SIZES.users),
    keys: ids(SIZES.keys),
    ...known,
  });
  return [
    complete({ keys: ids(keys), ...largest }),
    ...Array.from({ length: ORGANIZATIONS - 1 }, () => complete({})),
  ];
}

export const ERROR_CODES = [
  'upstream_timeout',
  'upstream_unreachable',
  'rate_limit_wait_budget_exceeded',
  'upstream_invalid_response',
] as const;

/** What the client asks for in a lane, and what it is sent on as. */
export const modelOf = (lane: number) => `lane-${lane}`;
export const upstreamModelOf = (endpoint: number) => `upstream-model-${endpoint % 7}`;

/** A request that is over, as a gateway records it. */
export interface SampleRequest {
  readonly organization: Organization;
  readonly requestId: string;
  readonly timeMs: number;
  readonly key: number;
  readonly lane: number;
  readonly endpoint: number;
  readonly state: 'completed' | 'failed' | 'cancelled';
  readonly cause: string | null;
  readonly waitMs: number;
  readonly ttftMs: number;
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
}

/** A key keeps to its lane, and a lane mostly to its first endpoint, as callers and routes do. */
export function sampleRequest(organizations: readonly Organization[], timeMs: number): SampleRequest {
  const [largest] = organizations;
  const organization =
    (Math.random() < 0.5 ? largest : organizations[below(organizations.length)]) ?? largest;
  if (organization === undefined) throw new Error('there are no organizations');
  // Some keys are far busier than others.
  const { keys, lanes, endpoints } = organization;
  const key = Math.floor(keys.length * Math.random() ** 2);
  const lane = key % lanes.length;
  const perLane = Math.max(1, Math.floor(endpoints.length / lanes.length));
  const endpoint = (lane * perLane + Math.floor(perLane * Math.random() ** 4)) % endpoints.length;
  const fate = Math.random();
  const state = fate < 0.95 ? 'completed' : fate < 0.99 ? 'failed' : 'cancelled';
  const latencyMs = Math.round(80 + 900 * Math.exp(2 * Math.random() - 0.5));
  const [inputTokens, outputTokens] = [20 + below(2_000), 10 + below(600)];
  return {
    organization,
    requestId: requestIdAt(timeMs),
    timeMs,
    key,
    lane,
    endpoint,
    state,
    cause: state === 'failed' ? (ERROR_CODES[below(ERROR_CODES.length)] ?? null) : null,
    waitMs: Math.random() < 0.1 ? below(3_000) : 0,
    ttftMs: Math.round(latencyMs / 3),
    latencyMs,
    inputTokens,
    outputTokens,
    costMicros: Math.ceil(0.15 * inputTokens + 0.6 * outputTokens),
  };
}

/** A UUIDv7 of that moment. */
function requestIdAt(timeMs: number): string {
  const time = Math.floor(timeMs).toString(16).padStart(12, '0');
  const [one, two, three] = [hexBelow(0x1000, 3), hexBelow(0x1000, 3), hexBelow(2 ** 48, 12)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${one}-8${two}-${three}`;
}

function hexBelow(bound: number, digits: number): string {
  return Math.floor(Math.random() * bound)
    .toString(16)
    .padStart(digits, '0');
}

function below(bound: number): number {
  return Math.floor(Math.random() * bound);
}

function ids(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}
