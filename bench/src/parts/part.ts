/** A piece of the gateway's work that one process does alone, without sockets and stores. */
export interface Part {
  /** What the next run uses up; not measured. */
  prepare?(): Promise<void>;
  /** The work, a fixed number of times. */
  run(): void | Promise<void>;
  /** Runs before the first that is measured: code that runs rarely is compiled late. */
  readonly warmUps: number;
}
