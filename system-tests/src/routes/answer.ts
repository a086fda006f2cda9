import type { RouteId } from '@relay/contract';

/** Who calls, and the name in the audit log; null for a caller without an account. */
export interface Caller {
  readonly headers: Readonly<Record<string, string>>;
  readonly organizationId: string;
  readonly userId: string;
  readonly actor: { readonly type: 'api_key' | 'admin_token' | 'user'; readonly id: string } | null;
}

export interface Answer {
  readonly line: string;
  readonly route: RouteId | null;
  readonly caller: Caller;
  readonly status: number;
  /** The status, and the code of an error: `200`, `404 not_found`. */
  readonly summary: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly text: string;
  /** The body of the request. */
  readonly sent: unknown;
  readonly requestId: string;
}

/** The id of what an answer made or shows, wherever the route puts it; one that never was when it refused. */
export function idOf(answer: Answer): string {
  return textAt(answer, 'id') || textAt(answer, 'key', 'id') || textAt(answer, 'invitation', 'id') || NO_ID;
}

export const NO_ID = '01890000-0000-7000-8000-000000000000';

/** The text at this place of an answer; empty when there is none. */
export function textAt({ body }: Answer, ...path: readonly string[]): string {
  const found = path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | null | undefined)?.[key],
    body,
  );
  return typeof found === 'string' ? found : '';
}

/** The list that an answer is, or that it has under its one key. */
export function itemsOf({ body, status }: Answer): readonly Record<string, unknown>[] {
  if (status >= 400 || typeof body !== 'object' || body === null) return [];
  const found = Array.isArray(body) ? body : Object.values(body).find(Array.isArray);
  return (found ?? []) as Record<string, unknown>[];
}
