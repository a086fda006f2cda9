interface Attempt {
  readonly endpoint_id: string;
  readonly outcome: 'succeeded' | 'failed' | 'cancelled';
}

/** An attempt that failed or was cancelled. */
type Unsuccessful<A extends Attempt> = A & { readonly outcome: 'failed' | 'cancelled' };

/** The last attempt at an endpoint if it did not succeed. A tried candidate has verdict `unhealthy` too, but was not skipped. */
export function unsuccessfulAttempt<A extends Attempt>(
  attempts: readonly A[],
  endpointId: string,
): Unsuccessful<A> | undefined {
  const last = attempts.findLast(({ endpoint_id: id }) => id === endpointId);
  return last === undefined || last.outcome === 'succeeded' ? undefined : (last as Unsuccessful<A>);
}
