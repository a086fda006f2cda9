import { accessErrors } from './errors/access-errors.ts';
import { capacityErrors } from './errors/capacity-errors.ts';
import type { ErrorDefinition } from './errors/error-definition.ts';
import { requestErrors } from './errors/request-errors.ts';
import { serviceErrors } from './errors/service-errors.ts';
import { upstreamErrors } from './errors/upstream-errors.ts';

export type { ErrorDefinition, ErrorOwner } from './errors/error-definition.ts';

/**
 * Every error that Relay itself returns. The key is the `code` on the wire.
 * Each one has a generated page, and `doc_url` points to it.
 */
export const errors = {
  ...requestErrors,
  ...accessErrors,
  ...capacityErrors,
  ...upstreamErrors,
  ...serviceErrors,
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes: readonly ErrorCode[] = Object.keys(errors).filter(isErrorCode);

export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(errors, value);
}
