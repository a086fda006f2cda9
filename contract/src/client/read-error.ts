import { headers as names } from '../headers.ts';

/** What an error response of Relay says. */
export interface ErrorResponse {
  readonly status: number;
  /** The code of the error, or `http_STATUS` where the body has none. */
  readonly code: string;
  readonly message: string | null;
  /** The field at fault, as a path into the request's body. */
  readonly param: string | null;
  /** Every invalid field, where the server reports several. */
  readonly issues: readonly ErrorIssue[];
  readonly requestId: string | null;
  readonly docUrl: string | null;
  readonly retryAfterMs: number | null;
  /** When the limit that rejected the request resets. */
  readonly resetsAt: string | null;
}

export interface ErrorIssue {
  readonly path: string;
  readonly message: string;
}

/** Reads the body of an error response. Null when the body is not Relay's, such as the error page of a proxy. */
export function readError(
  response: Pick<Response, 'status' | 'headers'>,
  body: string,
): ErrorResponse | null {
  const error = errorIn(body);
  if (error === null) return null;
  const { status, headers } = response;
  const retryAfterMs = Number(headers.get(names.retryAfterMs) ?? Number.NaN);
  return {
    status,
    code: textOf(error['code']) ?? `http_${status}`,
    message: textOf(error['message']),
    param: textOf(error['param']),
    issues: issuesOf(error['issues']),
    requestId: textOf(error['request_id']) ?? headers.get(names.requestId),
    docUrl: textOf(error['doc_url']),
    retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : null,
    resetsAt: textOf(error['resets_at']),
  };
}

/** The invalid fields: the list of issues, or the one field the error names. */
export function issuesIn({ issues, param, message }: ErrorResponse): readonly ErrorIssue[] {
  if (issues.length > 0) return issues;
  return param === null ? [] : [{ path: param, message: message ?? '' }];
}

function errorIn(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) && isObject(value['error']) ? value['error'] : null;
  } catch {
    return null;
  }
}

function issuesOf(value: unknown): readonly ErrorIssue[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((issue: unknown) => {
    const path = isObject(issue) ? textOf(issue['path']) : null;
    const message = isObject(issue) ? textOf(issue['message']) : null;
    return path === null || message === null ? [] : [{ path, message }];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
