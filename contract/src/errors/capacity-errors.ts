import type { ErrorDefinition } from './error-definition.ts';

/** Limits and queues that have no capacity left. */
export const capacityErrors = {
  rate_limit_wait_budget_exceeded: {
    status: 429,
    type: 'rate_limit_wait_budget_exceeded',
    message: 'No candidate has capacity within the wait budget. Retry after the time in Retry-After.',
    why: 'Every candidate in the lane is at a limit per second, per minute or on concurrency, or in a cooldown, and none becomes free within the wait budget. The error names the limit.',
    fix: 'Wait for the time in `Retry-After`, then retry. If the provider asked for a pause of more than a minute, Relay sends `x-should-retry: false`. For fewer rejections, raise the limit or the lane’s wait budget (`default_max_wait_ms`), or add an endpoint.',
    owner: 'capacity',
    retry: true,
  },
  budget_exhausted: {
    status: 429,
    type: 'rate_limit_wait_budget_exceeded',
    message: 'A limit has been reached. Raise the limit, or retry after its window resets.',
    why: 'A limit per hour, day, week or month, such as a team’s budget, is used up until its window ends. Such a limit has this code at every moment, also in the last seconds of its window; limits per second, per minute and on concurrency have `rate_limit_wait_budget_exceeded`.',
    fix: 'Raise the limit that the error names, or send the request after the time in `Retry-After`. `x-should-retry: false` stops SDKs from retrying, which would take hours.',
    owner: 'capacity',
    retry: false,
  },
  request_exceeds_limit: {
    status: 429,
    type: 'request_exceeds_limit',
    message: 'This request exceeds a limit by itself. Make it smaller, or raise the limit.',
    why: 'The estimate for this request is larger than the limit, so waiting can’t help.',
    fix: 'Lower max tokens, shorten the input, or raise the limit that the error names. Don’t retry it unchanged.',
    owner: 'capacity',
    retry: false,
  },
  too_many_attempts: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many attempts. Wait for the time in Retry-After, then try again.',
    why: 'Relay limits failed sign-in attempts per client address to slow down password guessing. After failures from many addresses, Relay also slows down attempts from addresses that the account has not used before. Password reset links are limited per email address.',
    fix: 'Wait for the time in `Retry-After`. Signing in from an address that the account has used before still works.',
    owner: 'client',
    retry: false,
  },
  queue_full: {
    status: 429,
    type: 'queue_full',
    message: 'Too many requests are already waiting for this lane or key. Slow down and retry.',
    why: 'Relay bounds the queue of each lane and each key, the number of requests that wait in one process, and the memory for large request bodies. In hosted mode, each organization has a share of the last two.',
    fix: 'Retry with backoff, send fewer requests concurrently, or raise the limits that make requests wait.',
    owner: 'capacity',
    retry: true,
  },
  too_many_streams: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many live tails and downloads are open. Close one, then try again.',
    why: 'Relay limits the streamed responses of the management API per caller and per process, because each one keeps a connection open and reads the ledger.',
    fix: 'Close a tail or wait for a download to end. Use one tail with a broader filter instead of several.',
    owner: 'client',
    retry: false,
  },
} as const satisfies Record<string, ErrorDefinition>;
