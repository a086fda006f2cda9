import { IS_LONG } from '@relay/testbed/long-form';

/** What one organization does while another one's latency is measured. */
export interface Attack {
  readonly name: string;
  /** Requests that are in flight all the time. */
  readonly clients: number;
  /** Which of the attacker's lanes or models; `shared` is at the origin that the other organization uses too. */
  readonly model: string;
  /** How the attacker's provider answers. */
  readonly answer?: HostileAnswer;
  /** The request as text, if it is not a small one. */
  readonly body?: HostileBody;
  readonly streaming?: boolean;
  /** The requests are held this long by the provider. */
  readonly heldMs?: number;
}

export type HostileAnswer = keyof typeof HOSTILE_ANSWERS;
export type HostileBody = keyof typeof HOSTILE_BODIES;

/** Text of about that many bytes, in which `unit` repeats. */
interface Hostile {
  readonly unit: string;
  readonly bytes: number;
}

/** Complete answers; `gzip` ones are sent compressed, and `stream` ones as events that repeat. */
export const HOSTILE_ANSWERS = {
  'gzip-numbers': { unit: '1,', bytes: 62e6, gzip: true, stream: 0 },
  'gzip-nested': { unit: '[],', bytes: 60e6, gzip: true, stream: 0 },
  'gzip-stream': {
    unit: `data: {"choices":[{"delta":{"content":"${'a'.repeat(900)}"}}]}\n\n`,
    bytes: 63e6,
    gzip: true,
    stream: 32,
  },
  'plain-nested': { unit: '{"a":1},', bytes: 7.9e6, gzip: false, stream: 0 },
} as const satisfies Record<string, Hostile & { readonly gzip: boolean; readonly stream: number }>;

export const HOSTILE_BODIES = {
  nested: { unit: '{"a":1},', bytes: 20e6 },
  escaped: { unit: '\\"', bytes: 20e6 },
} as const satisfies Record<string, Hostile>;

/** Connections of one gateway to one origin. */
export const CONNECTIONS_MAX = 64;
/** Requests that the attacker's queue lets through concurrently. */
export const CONCURRENCY_MAX = 5;
/** Endpoints of the attacker's widest lane, each with two limits for the key. */
export const WIDE_ENDPOINTS = 200;
/** Requests per minute of the lane that is always full. */
export const FULL_PER_MINUTE = 1;

/** A busy machine takes long to accept as many as the full size has. */
const IN_LINE = IS_LONG ? 1_000 : 300;

export const ATTACKS: readonly Attack[] = [
  { name: 'compressed numbers, 62 MB', clients: 8, model: 'own', answer: 'gzip-numbers' },
  { name: 'compressed lists, 60 MB', clients: 8, model: 'own', answer: 'gzip-nested' },
  { name: 'a compressed stream of 2 GB', clients: 2, model: 'own', answer: 'gzip-stream', streaming: true },
  { name: 'nested answers of 8 MB', clients: 4, model: 'own', answer: 'plain-nested' },
  { name: 'nested bodies of 20 MB', clients: 4, model: 'own', body: 'nested' },
  { name: 'bodies of 20 MB of escapes', clients: 4, model: 'own', body: 'escaped' },
  { name: 'a lane of 200 limited endpoints', clients: 8, model: 'wide' },
  { name: 'every connection to a shared origin', clients: 100, model: 'shared', heldMs: 30_000 },
  { name: `${IN_LINE} requests in line`, clients: IN_LINE, model: 'queue', heldMs: 30_000 },
  { name: 'requests that are refused, 32 at a time', clients: 32, model: 'full' },
];
