import type { RouteBody, RouteId, RouteParams, RouteQuery, RouteResult } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';

/** One call of a management route: authenticated, allowed by scope, and valid against the route's schemas. */
export interface Call<I extends RouteId> {
  readonly caller: Caller;
  readonly requestId: string;
  readonly params: RouteParams<I>;
  readonly query: RouteQuery<I>;
  readonly body: RouteBody<I>;
  /** Request headers by lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
}

export type Handler<I extends RouteId> = (call: Call<I>) => Promise<RouteResult<I>>;

/** What a room serves. A management route of the contract without a handler answers 501. */
export type Handlers = { readonly [I in RouteId]?: Handler<I> };
