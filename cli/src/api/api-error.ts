import { type ErrorDetail, exitCodes, ProgramError } from '../kit/program-error.ts';
import { plain } from '../output/cells.ts';

/** What the server refused, in its own words and with its code. */
export class ApiError extends ProgramError {
  readonly status: number;
  readonly code: string;
  /** The field of the request that is at fault, where there is one. */
  readonly param: string | undefined;

  constructor(message: string, status: number, code: string, detail: ErrorDetail, param?: string) {
    super(message, exitCodeOf(status, code), detail);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

interface WireError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly param?: unknown;
  readonly request_id?: unknown;
  readonly doc_url?: unknown;
}

/** The error a response carries. Whatever is not of Relay's shape is told as what it is. */
export async function errorOf(response: Response, text: string): Promise<ProgramError> {
  const error = wireError(text);
  const requestId = textOf(error?.request_id) ?? response.headers.get('x-request-id') ?? undefined;
  if (error === null) return foreignAnswer(response, requestId);
  const code = textOf(error.code) ?? 'unknown';
  const { errors, isErrorCode } = await import('@relay/contract/errors');
  const known = isErrorCode(code) ? errors[code] : undefined;
  return new ApiError(
    textOf(error.message) ?? `The server answered ${response.status}.`,
    response.status,
    code,
    {
      why: known?.why,
      fix: known?.fix,
      requestId,
      docUrl: textOf(error.doc_url),
    },
  );
}

/** The server spoke, but not as a Relay does: a proxy in front of it, or another service altogether. */
export function foreignAnswer(response: Response, requestId?: string): ProgramError {
  const { status, url, headers } = response;
  const kind = plain(headers.get('content-type') ?? 'no content type').split(';')[0] ?? '';
  const location = headers.get('location');
  const moved = status >= 300 && status < 400 && location !== null;
  return new ProgramError(
    moved
      ? `${url} redirects to ${plain(location)}.`
      : `${url} answered ${status} with ${kind}, which is not an answer of Relay.`,
    status === 401 || status === 403 ? exitCodes.auth : exitCodes.error,
    {
      why: moved
        ? undefined
        : 'Something else listens at this address, or a proxy in front of Relay answered.',
      fix: moved
        ? 'log in with the address it redirects to'
        : 'give the address of the gateway itself, as scheme, host and port: `relay login --server URL`',
      requestId,
    },
  );
}

function exitCodeOf(status: number, code: string): number {
  if (status === 401 || status === 403) {
    return code === 'content_policy_violation' ? exitCodes.error : exitCodes.auth;
  }
  if (status === 404 || code === 'model_not_found') return exitCodes.notFound;
  return status === 429 ? exitCodes.rateLimited : exitCodes.error;
}

function wireError(text: string): WireError | null {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null || !('error' in body)) return null;
    return typeof body.error === 'object' ? body.error : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? plain(value) : undefined;
}
