import { type ErrorIssue, type ErrorResponse, issuesIn, readError } from '@relay/contract/client';
import { type ErrorDetail, exitCodes, ProgramError } from '../kit/program-error.ts';
import { plain } from '../output/cells.ts';
import { fixWords } from './error-commands.ts';

/** An error response of Relay, with its message and code. */
export class ApiError extends ProgramError {
  readonly status: number;
  readonly code: string;
  /** The invalid fields of the request's body. */
  readonly issues: readonly ErrorIssue[];

  constructor(response: ErrorResponse, detail: ErrorDetail) {
    const { status, code, message } = response;
    super(plain(message ?? `The server returned ${status}.`), exitCodeOf(status, code), detail);
    this.status = status;
    this.code = code;
    this.issues = issuesIn(response);
  }
}

/** The error of a response. A body that is not Relay's gets a message of its own. */
export async function errorOf(response: Response, text: string): Promise<ProgramError> {
  const error = readError(response, text);
  if (error === null) return foreignAnswer(response, shown(response.headers.get('x-request-id')));
  const { errors, isErrorCode } = await import('@relay/contract/errors');
  const known = isErrorCode(error.code) ? errors[error.code] : undefined;
  return new ApiError(error, {
    why: known?.why,
    fix: fixWords(error.code, known?.fix),
    requestId: shown(error.requestId),
    docUrl: shown(error.docUrl),
  });
}

/** The response is not Relay's: it comes from a proxy or another service. */
export function foreignAnswer(response: Response, requestId?: string): ProgramError {
  const { status, url, headers } = response;
  const kind = plain(headers.get('content-type') ?? 'no content type').split(';')[0] ?? '';
  const location = headers.get('location');
  const moved = status >= 300 && status < 400 && location !== null;
  return new ProgramError(
    moved
      ? `${url} redirects to ${plain(location)}.`
      : `${url} returned ${status} with ${kind}, which isn't a response from Relay.`,
    status === 401 || status === 403 ? exitCodes.auth : exitCodes.error,
    {
      why: moved ? undefined : 'Another service uses this address, or a proxy in front of Relay responded.',
      fix: moved
        ? `Run: \`relay login ${plain(URL.parse(location, url)?.origin ?? 'URL')}\``
        : 'Use the address of Relay itself: scheme, host and port. Run: `relay login URL`',
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

function shown(text: string | null): string | undefined {
  return text === null ? undefined : plain(text);
}
