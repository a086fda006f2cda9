/** Who has to act for the error to go away. */
export type ErrorOwner = 'client' | 'config' | 'capacity' | 'upstream' | 'platform';

export interface ErrorDefinition {
  readonly status: number;
  /** The coarse class that SDKs switch on. */
  readonly type: string;
  /** The default public text: what happened, why, what to do. It never carries internal detail. */
  readonly message: string;
  readonly why: string;
  readonly fix: string;
  readonly owner: ErrorOwner;
}
