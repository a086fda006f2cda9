/** The exit codes. */
export const exitCodes = {
  ok: 0,
  error: 1,
  usage: 2,
  auth: 3,
  notFound: 4,
  differs: 5,
  rateLimited: 6,
} as const;

export interface ErrorDetail {
  readonly why?: string | undefined;
  /** What the user can do about the error. */
  readonly fix?: string | undefined;
  readonly requestId?: string | undefined;
  readonly docUrl?: string | undefined;
}

/** An expected error with a message and an exit code; printed without a stack trace. */
export class ProgramError extends Error {
  readonly exitCode: number;
  readonly detail: ErrorDetail;

  constructor(message: string, exitCode: number = exitCodes.error, detail: ErrorDetail = {}) {
    super(message);
    this.exitCode = exitCode;
    this.detail = detail;
  }
}

export function usageError(message: string, fix?: string): ProgramError {
  return new ProgramError(message, exitCodes.usage, { fix });
}

/** Ends the command with an exit code after its result was printed. */
export class Outcome extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('the result is printed');
    this.exitCode = exitCode;
  }
}
