/** A request as it came in. */
export interface AccessRequest {
  method: string;
  /** Path and query, as sent. */
  url: string;
  /** Names and values in turn. */
  rawHeaders: string[];
  body: Buffer;
}

/** Why the request is refused with 401; null when it is let in. */
export type Access = (request: AccessRequest) => string | null;
