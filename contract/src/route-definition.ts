import type { TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `inference` takes the API token, `management` everything below /api, `operations` answers without
 * a key from cached state.
 */
export type Plane = 'inference' | 'management' | 'operations';

export interface RouteSuccess {
  readonly status: number;
  readonly schema?: TSchema;
  /** `application/json` where a schema is given and nothing else is said. */
  readonly contentType?: string;
  /** The same operation may answer `text/event-stream` instead. */
  readonly streams?: boolean;
  /** Other statuses that carry the same body, such as 503 of a readiness probe. */
  readonly otherStatuses?: readonly number[];
}

/** One row of a route table. Access and the errors every route shares are added when the tables are joined. */
export interface RouteDefinition {
  readonly method: Method;
  readonly path: string;
  readonly plane: Plane;
  readonly tag: string;
  readonly summary: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Whether the body may be left out. */
  readonly bodyOptional?: boolean;
  /** The handler gets the body as text, unparsed and unchecked, because a signature is over exactly what was sent. */
  readonly rawBody?: boolean;
  readonly success: RouteSuccess;
  /** Errors beyond those that follow from the plane, the access and the presence of params and a body. */
  readonly errors?: readonly ErrorCode[];
}

export type RouteTable = Record<string, RouteDefinition>;

/** 204, no body. */
export const noContent = { status: 204 } as const;
