import type { TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `inference` is below /v1, `management` below /api; `operations` (probes, metrics, reference) needs no key. */
export type Plane = 'inference' | 'management' | 'operations';

export interface RouteSuccess {
  readonly status: number;
  readonly schema?: TSchema;
  /** Defaults to `application/json` when there is a schema. */
  readonly contentType?: string;
  /** The operation can also respond with `text/event-stream`. */
  readonly streams?: boolean;
  /** Other statuses that carry the same body, such as 503 of a readiness probe. */
  readonly otherStatuses?: readonly number[];
}

/** What a caller needs. `any_key`: a valid key or session; `session_only`: a browser session, never a key. */
export type Access<Scope extends string = string> =
  | { readonly scope: Scope }
  /** Any one of these is enough; the answer is narrowed to what the held ones may see. */
  | { readonly scopes: readonly Scope[] }
  /** All of these are needed, because the route reaches over several areas. */
  | { readonly everyScope: readonly Scope[] }
  | 'any_key'
  | 'session_only'
  | 'public';

/**
 * One row of a route table. The errors every route shares are added when the tables are joined; that is also where
 * the type checker compares the scopes with those that exist, because a resource announces routes and scopes together.
 */
export interface RouteDefinition<Scope extends string = string> {
  readonly method: Method;
  readonly path: string;
  readonly access: Access<Scope>;
  /** The session of a suspended member opens it too. */
  readonly openToSuspended?: boolean;
  /** Hosted deployments refuse it to every caller. */
  readonly selfHostedOnly?: boolean;
  /**
   * The heading of the page that an error becomes, on routes that people visit with their browser. A client that asks for
   * JSON gets JSON.
   */
  readonly errorPage?: string;
  readonly plane: Plane;
  readonly tag: string;
  readonly summary: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Whether the body may be left out. */
  readonly bodyOptional?: boolean;
  /** The handler gets the body as unparsed text, because the sender signed exactly these bytes. */
  readonly rawBody?: boolean;
  readonly success: RouteSuccess;
  /** Errors beyond those that `routes.ts` derives from plane, access, params and body. */
  readonly errors?: readonly ErrorCode[];
}

export type RouteTable<Scope extends string = string> = Record<string, RouteDefinition<Scope>>;

/** 204, no body. */
export const noContent = { status: 204 } as const;

/** What creating a resource, and changing one that the configuration file may own, can answer beyond the usual. */
export const createErrors = ['conflict', 'idempotency_conflict'] as const;
export const changeErrors = ['conflict', 'managed_by_file', 'version_conflict'] as const;
