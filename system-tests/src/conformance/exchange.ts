/** One answer, read whole, with the call that it answers. */
export interface Answer {
  readonly line: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly body: unknown;
}

export interface Sending {
  /** The bearer key; null sends no Authorization header. */
  readonly key?: string | null;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export async function exchange(
  url: string,
  method: string,
  path: string,
  sending: Sending = {},
): Promise<Answer> {
  const { key, body, raw, headers, signal } = sending;
  const text = raw ?? (body === undefined ? null : JSON.stringify(body));
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(text === null ? {} : { 'content-type': 'application/json' }),
      ...(typeof key === 'string' ? { authorization: `Bearer ${key}` } : {}),
      ...headers,
    },
    body: text,
    ...(signal === undefined ? {} : { signal }),
  });
  const received = await response.text();
  return {
    line: `${method} ${path}`,
    status: response.status,
    headers: response.headers,
    text: received,
    body: parsed(received),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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
