import { headers as names } from '@relay/contract';
import { type Sent, sendTagged, type TaggedAnswer } from '../harness/tagged-request.ts';
import type { Fleet } from './fleet.ts';

export interface AskOptions {
  readonly model: string;
  readonly tag: string;
  readonly maxTokens?: number;
  readonly stream?: boolean;
  /** What the simulated provider does with the request. */
  readonly sim?: Readonly<Record<string, unknown>>;
  /** The process that receives it. */
  readonly process?: number;
  /** A URL outside the fleet. */
  readonly url?: string;
}

export interface Answer extends TaggedAnswer {
  readonly process: number;
  readonly maxTokens: number;
}

export type Asked = Sent<Answer>;

const MAX_TOKENS = 10;

/** Sends one chat request to a process of the fleet. */
export function ask(fleet: Fleet, options: AskOptions): Asked {
  const { maxTokens = MAX_TOKENS, process = 0 } = options;
  // An embedded deployment has one process, which receives everything.
  const url = options.url ?? fleet.deployment.processes[process % fleet.size]?.url;
  if (url === undefined) throw new RangeError(`there is no process ${process}`);
  const sent = sendTagged({ ...options, url, token: fleet.deployment.apiToken, maxTokens });
  return { ...sent, answer: sent.answer.then((answer) => ({ ...answer, process, maxTokens })) };
}

/** Sends them concurrently, spread evenly over the processes. */
export function askAll(fleet: Fleet, options: readonly AskOptions[]): Asked[] {
  return options.map((each, index) => ask(fleet, { process: index % fleet.size, ...each }));
}

export function answersOf(asked: readonly Asked[]): Promise<Answer[]> {
  return Promise.all(asked.map(({ answer }) => answer));
}

export interface ErrorBody {
  readonly code: string;
  readonly type: string;
  readonly retry_after?: number;
  readonly policy?: { readonly id: string; readonly metric: string; readonly period: string } | null;
}

export function errorOf({ text }: Answer): ErrorBody {
  return (JSON.parse(text) as { error: ErrorBody }).error;
}

export function header(answer: Answer, name: keyof typeof names): string | undefined {
  return answer.headers[names[name].toLowerCase()];
}

/** Request IDs are UUIDv7: the first 48 bits are the time at which the process received the request. */
export function arrivedAtMs(answer: Answer): number {
  const id = header(answer, 'requestId') ?? '';
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}
