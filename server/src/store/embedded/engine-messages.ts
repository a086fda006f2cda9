/** The worker's start parameters. */
export interface EngineSettings {
  readonly directory: string;
}

/** To the worker: whole messages of PostgreSQL's wire protocol, or the request to shut down. */
export type EngineRequest = { readonly id: number; readonly bytes: Uint8Array } | { readonly close: true };

/** From the worker. `bytes` are PostgreSQL's whole answer to the request with that id. */
export type EngineAnswer =
  | { readonly ready: true }
  | { readonly refused: string }
  | { readonly id: number; readonly bytes: Uint8Array }
  | { readonly closed: true };
