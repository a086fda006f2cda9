import { accessErrors } from './errors/access-errors.ts';
import { capacityErrors } from './errors/capacity-errors.ts';
import type { ErrorDefinition } from './errors/error-definition.ts';
import { requestErrors } from './errors/request-errors.ts';
import { serviceErrors } from './errors/service-errors.ts';
import { upstreamErrors } from './errors/upstream-errors.ts';

export type { ErrorDefinition, ErrorOwner } from './errors/error-definition.ts';

/**
 * The closed list of errors the service itself makes. The key is the wire's `code`.
 * Every entry has a generated page, and `doc_url` points to it.
 */
export const errors = {
  ...requestErrors,
  ...accessErrors,
  ...capacityErrors,
  ...upstreamErrors,
  ...serviceErrors,
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = Object.keys(errors) as readonly ErrorCode[];

export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(errors, value);
}
