import { randomBytes } from 'node:crypto';
import type { Fault, RequestLogEntry } from '@relay/provider-sim';
import { until } from '../harness/until.ts';
import { inferenceBodies } from './calls.ts';
import { type Answer, itemsOf } from './exchange.ts';
import { expect } from './expectation.ts';
import type { LaneName } from './lanes.ts';
import type { Person } from './people.ts';
import type { Site } from './site.ts';

export interface Asking {
  /** Below `/v1`; chat unless given. */
  readonly path?: string;
  readonly key?: string;
  /** By a browser session instead of a key. */
  readonly by?: Person;
  readonly fault?: Partial<Fault>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export const CHAT = '/chat/completions';
export const inferencePaths: readonly string[] = Object.keys(inferenceBodies);

/** An inference request, by default a chat completion; `model` is a lane of the site or any other name. */
export function ask(
  site: Site,
  model: LaneName | (string & {}),
  { path = CHAT, key, by, fault, body, headers, signal }: Asking = {},
): Promise<Answer> {
  const sending = {
    body: {
      model,
      ...inferenceBodies[path],
      ...(fault === undefined ? {} : { sim: fault }),
      ...body,
    },
    ...(headers === undefined ? {} : { headers }),
    ...(signal === undefined ? {} : { signal }),
  };
  if (by !== undefined) return by.call('POST', `/v1${path}`, sending);
  return site.call('POST', `/v1${path}`, { ...sending, ...(key === undefined ? {} : { key }) });
}

/** The same request, marked so that the provider's log can be asked for it. */
export async function askMarked(
  site: Site,
  model: LaneName | (string & {}),
  asking: Asking = {},
): Promise<{ readonly answer: Answer; readonly seen: readonly RequestLogEntry[] }> {
  const tag = randomBytes(6).toString('hex');
  const answer = await ask(site, model, { ...asking, fault: { ...asking.fault, tag } });
  return { answer, seen: site.provider.log.filter(({ fault }) => fault?.tag === tag) };
}

export function header({ headers }: Answer, name: string): string {
  return headers.get(name) ?? '';
}

const LEDGER_MS_MAX = 10_000;

/** The request's own record, once it is written. */
export async function recordOf(site: Site, answer: Answer): Promise<Answer> {
  const path = `/api/relay/requests/${header(answer, 'x-request-id')}`;
  let record: Answer | undefined;
  const written = await until(async () => {
    record = await site.call('GET', path);
    return record.status === 200;
  }, LEDGER_MS_MAX);
  expect(written && record !== undefined, 'a record of the request', record);
  return record;
}

/** Configuration that was just written reaches inference shortly after; waits until a request shows it. */
export async function eventually(shows: () => Promise<boolean>, what: string): Promise<void> {
  expect(await until(shows, LEDGER_MS_MAX), what, `not within ${LEDGER_MS_MAX} ms`);
}

export function policiesOf({ body }: Answer): readonly Readonly<Record<string, unknown>>[] {
  return itemsOf((body as { policies?: unknown } | undefined)?.policies);
}
