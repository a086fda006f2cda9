import type { ErrorDefinition } from './error-definition.ts';

/** Limits and queues that have no capacity left. */
export const capacityErrors = {
  rate_limit_wait_budget_exceeded: {
    status: 429,
    type: 'rate_limit_wait_budget_exceeded',
    message: 'No candidate has capacity within the wait budget. Retry after the time in Retry-After.',
    why: 'Every candidate of the lane is at a limit, and the soonest would be free later than the lane’s wait budget allows. The error names the limiting policy.',
    fix: 'Retry after `Retry-After`. To refuse less often, raise the limit or the lane’s `default_max_wait_ms`, or add a candidate.',
    owner: 'capacity',
  },
  budget_exhausted: {
    status: 429,
    type: 'rate_limit_wait_budget_exceeded',
    message: 'A budget is used up until its window resets. Raise the budget, or wait for the reset.',
    why: 'The limiting policy resets more than 60 seconds from now (an hour, day or month budget), so waiting or retrying soon cannot help.',
    fix: 'Raise the limit of the policy the error names, or send the request after the reset. `x-should-retry: false` keeps SDKs from sleeping.',
    owner: 'capacity',
  },
  request_exceeds_limit: {
    status: 429,
    type: 'request_exceeds_limit',
    message:
      'This request alone is larger than a limit that applies to it. Make it smaller, or raise the limit.',
    why: 'The estimate for this one request exceeds the whole limit of a policy, so no wait could ever admit it.',
    fix: 'Lower the output cap or the input, or raise the limit of the policy the error names. Do not retry unchanged.',
    owner: 'capacity',
  },
  too_many_attempts: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many attempts. Wait for the time in Retry-After, then try again.',
    why: 'Failed attempts to sign in are limited for each client address, so that passwords and codes cannot be guessed. Failures from many addresses at one account slow down attempts from addresses that the account has not used before. Links to reset a password are limited for each e-mail address.',
    fix: 'Wait for the time in `Retry-After`. Signing in from an address that the account has used before still works.',
    owner: 'client',
  },
  queue_full: {
    status: 429,
    type: 'queue_full',
    message: 'Too many requests are already waiting for this lane or key. Slow down and retry.',
    why: 'The number of waiting requests per lane and per key is bounded, so that waiting never grows without end. So are the requests that wait in one process and the memory of its large request bodies; in hosted mode, each organization has a share of both.',
    fix: 'Retry with backoff, send fewer requests concurrently, or raise the limits that make requests wait.',
    owner: 'capacity',
  },
  too_many_streams: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many live tails and downloads are open already. Close one, then try again.',
    why: 'Streamed answers of the management interface are bounded for each caller and for each process, because every one of them keeps a connection and reads the ledger.',
    fix: 'Close a tail or wait for a download to end. One tail with a wider filter does the work of several.',
    owner: 'client',
  },
} as const satisfies Record<string, ErrorDefinition>;
