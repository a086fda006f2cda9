import type { ErrorCode } from '@relay/contract';
import { type ErrorResponse, readError } from '@relay/contract/client';

/** An error response of the API, with what error cards and forms show of it. */
export class ApiError extends Error {
  readonly response: ErrorResponse;
  readonly status: number;
  readonly code: string;

  constructor(response: ErrorResponse) {
    super(response.message ?? '');
    this.name = 'ApiError';
    this.response = response;
    this.status = response.status;
    this.code = response.code;
  }
}

/** The request got no response, or something other than Relay answered it. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('', { cause });
    this.name = 'Unreachable';
  }
}

/** A failure that the console itself explains. Its message is shown. */
export class Explained extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Explained';
  }
}

export async function errorOf(response: Response): Promise<ApiError | Unreachable> {
  const error = readError(response, await response.text().catch(() => ''));
  return error === null ? new Unreachable(`${response.status}`) : new ApiError(error);
}

/** Whether the server answered with this code. */
export function hasCode(error: Error | null, code: ErrorCode): boolean {
  return error instanceof ApiError && error.code === code;
}

/** The field that the server names. */
export function paramOf(error: Error | null): string | null {
  return error instanceof ApiError ? (error.response.param ?? null) : null;
}
