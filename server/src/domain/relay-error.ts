import { type ErrorCode, errors } from '@relay/contract';

export interface RelayErrorDetail {
  /** Replaces the registry's message: what happened, why, and what to do. Safe to show to the client. */
  readonly message?: string;
  /** The request field that is wrong. */
  readonly param?: string | null;
  /** Further members of the `error` object. Safe to show to the client. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Replaces the registry's `retry`, where this error knows more than its code. */
  readonly retry?: boolean;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only; never leaves the process. */
  readonly internal?: string;
  readonly cause?: unknown;
}

/** The only error that is thrown on purpose. Every other thrown value is a defect and answers 500. */
export class RelayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: RelayErrorDetail;

  constructor(code: ErrorCode, detail: RelayErrorDetail = {}) {
    super(detail.message ?? errors[code].message, detail.cause === undefined ? {} : { cause: detail.cause });
    this.name = 'RelayError';
    this.code = code;
    this.status = errors[code].status;
    this.detail = detail;
  }
}
