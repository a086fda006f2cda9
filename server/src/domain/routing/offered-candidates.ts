/** Which candidates of a request may serve it now. */
export interface Offer<C> {
  readonly offered: readonly C[];
  /** Those that are down, while another is not. */
  readonly skipped: readonly C[];
}

/**
 * Leaves out the candidates that are down, unless all are: the last one is never taken away. Data plane and explanation
 * decide with this. Without one that is down, the list is returned as it is.
 */
export function offerOf<C>(candidates: readonly C[], isDown: (candidate: C) => boolean): Offer<C> {
  const offered = candidates.filter((each) => !isDown(each));
  if (offered.length === candidates.length || offered.length === 0)
    return { offered: candidates, skipped: [] };
  return { offered, skipped: candidates.filter((each) => !offered.includes(each)) };
}
