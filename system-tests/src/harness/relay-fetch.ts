import { headers as headerNames } from '@relay/contract';
import { requireContract, routeFor } from './response-faults.ts';

/** A response of Relay, read whole. */
export interface RelayResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if the text is not JSON. */
  readonly body: unknown;
  /** The status, and the code of an error: `200`, `404 not_found`. */
  readonly summary: string;
}

export interface RelayRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string;
  readonly signal?: AbortSignal;
  /** The test expects a response that deviates from the contract, so that nothing is checked. */
  readonly expectsDeviation?: boolean;
}

/** Sends one request to Relay, and throws if the response deviates from the contract. Redirects are not followed. */
export async function relayFetch(
  url: string,
  method: string,
  path: string,
  { headers, body, raw, signal, expectsDeviation = false }: RelayRequest = {},
): Promise<RelayResponse> {
  const sent = raw ?? (body === undefined ? null : JSON.stringify(body));
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...(sent === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: sent,
    ...(signal === undefined ? {} : { signal }),
  });
  const { status } = response;
  const text = await textOf(response, method, path);
  if (!expectsDeviation) requireContract({ method, path, status, headers: response.headers, text });
  const parsed = parse(text);
  const { code } = (parsed as { error?: { code?: unknown } } | null | undefined)?.error ?? {};
  const summary = status < 400 ? String(status) : `${status} ${String(code ?? 'without a code')}`;
  return { status, headers: response.headers, text, body: parsed, summary };
}

/** The bearer header of a key or token. */
export function bearer(token: string): { readonly [headerNames.authorization]: string } {
  return { [headerNames.authorization]: `Bearer ${token}` };
}

async function textOf(response: Response, method: string, path: string): Promise<string> {
  const isTail = routeFor(method, path)?.success.contentType === 'text/event-stream';
  if (!isTail || response.status !== 200) return response.text();
  await response.body?.cancel();
  return '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
