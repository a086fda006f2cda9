/** Who can fix the error. */
export type ErrorOwner = 'client' | 'config' | 'capacity' | 'upstream' | 'platform';

export interface ErrorDefinition {
  readonly status: number;
  /** The class that SDKs branch on. */
  readonly type: string;
  /** The default public message: what happened, why, what to do. It never holds internal details. */
  readonly message: string;
  readonly why: string;
  readonly fix: string;
  readonly owner: ErrorOwner;
  /**
   * True if the same request can succeed within a minute without a change of the request or the configuration. Relay sends it as `x-should-retry`, and
   * only after it has tried every candidate itself. A `RelayError` may say otherwise where it knows more than its code.
   */
  readonly retry: boolean;
  /** The page’s answer to whether a retry helps, where some errors of the code say otherwise than `retry`. */
  readonly whenRetryHelps?: string;
}
