import { bearer, type RelayRequest, relayFetch } from '../harness/relay-fetch.ts';

/** One answer, read whole, with the call that it answers. */
export interface Answer {
  readonly line: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly body: unknown;
}

export interface Sending extends RelayRequest {
  /** The bearer key; null sends no Authorization header. */
  readonly key?: string | null;
}

export async function exchange(
  url: string,
  method: string,
  path: string,
  { key, headers, ...sending }: Sending = {},
): Promise<Answer> {
  const authorization = typeof key === 'string' ? bearer(key) : {};
  const request = { ...sending, headers: { ...authorization, ...headers } };
  return { line: `${method} ${path}`, ...(await relayFetch(url, method, path, request)) };
}

/** The value at a path of keys; undefined where there is none. */
export function at(value: unknown, path: string): unknown {
  let current = value;
  for (const step of path.split('.')) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[step];
  }
  return current;
}

export function textAt({ body }: Answer, path: string): string {
  const value = at(body, path);
  return typeof value === 'string' ? value : '';
}

export function itemsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as readonly Record<string, unknown>[]) : [];
}
