/** An answer that is no success, with everything the error card and the forms show of it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly docUrl: string | null;
  /** The field at fault. */
  readonly param: string | null;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly retryAfterMs: number | null;
  /** The body as it was sent, for codes that carry more. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>, headers: Headers) {
    super(typeof body['message'] === 'string' ? body['message'] : '');
    this.name = 'ApiError';
    this.status = status;
    this.code = textOf(body['code']) ?? `http_${status}`;
    this.requestId = textOf(body['request_id']) ?? headers.get('x-request-id');
    this.docUrl = textOf(body['doc_url']);
    this.param = textOf(body['param']);
    this.issues = Array.isArray(body['issues']) ? body['issues'] : [];
    const retryAfterMs = Number(headers.get('retry-after-ms') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(retryAfterMs) ? retryAfterMs : null;
    this.body = body;
  }
}

/** The server could not be reached at all, or something between answered in its place. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('', { cause });
    this.name = 'Unreachable';
  }
}

export async function errorOf(response: Response): Promise<ApiError | Unreachable> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as { error?: Record<string, unknown> };
    if (typeof error === 'object' && error !== null)
      return new ApiError(response.status, error, response.headers);
  } catch {
    // Whatever is not our error body was not said by our server.
  }
  return new Unreachable(`${response.status}`);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
