import type { Route } from '@relay/contract';
import type { Sample } from './requests.ts';

export interface Answer {
  readonly status: number;
  /** The status, and the code of an error: `200`, `403 insufficient_scope`. */
  readonly summary: string;
  /** Headers and body, as one text to search. */
  readonly text: string;
  readonly body: unknown;
  readonly headers: Headers;
}

export async function send(
  url: string,
  route: Pick<Route, 'method' | 'path'>,
  sample: Sample,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const values = [...(sample.path ?? [])];
  const path = route.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(values.shift() ?? ''));
  const search = sample.query === undefined ? '' : `?${new URLSearchParams(sample.query).toString()}`;
  const response = await fetch(url + path + search, {
    method: route.method,
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...headers,
      ...(sample.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: sample.body === undefined ? null : JSON.stringify(sample.body),
  });
  const body = await readBody(response);
  const code = response.status < 400 ? undefined : codeOf(body);
  return {
    status: response.status,
    summary: code === undefined ? String(response.status) : `${response.status} ${code}`,
    text: `${[...response.headers].join('\n')}\n${typeof body === 'string' ? body : JSON.stringify(body)}`,
    body,
    headers: response.headers,
  };
}

async function readBody(response: Response): Promise<unknown> {
  // A tail has no end to wait for.
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel();
    return '';
  }
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function codeOf(body: unknown): string {
  const error = (body as { error?: { code?: unknown } } | null)?.error;
  return typeof error?.code === 'string' ? error.code : 'without a code';
}
