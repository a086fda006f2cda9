import type { RouteBody, RouteId, RouteParams, RouteQuery, RouteResult, Routes } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';

/** One call of a management route: authenticated, allowed by scope, and valid against the route's schemas. */
export interface Call<I extends RouteId> {
  readonly caller: Caller;
  readonly requestId: string;
  /** The other end of the connection: the client or a proxy in front of it. Empty when it has disconnected. */
  readonly remoteAddress: string;
  readonly params: RouteParams<I>;
  readonly query: RouteQuery<I>;
  readonly body: RouteBody<I>;
  /** Request headers by lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
  /** Aborted when the client disconnects; of a streamed answer also when its access ends or the process drains. */
  readonly ended: AbortSignal;
}

/** An answer that is produced while it is sent, no faster than it is read. A disconnect calls `return` of the iterator. */
export interface StreamedAnswer {
  readonly chunks: AsyncIterable<string>;
}

/** What a handler returns: a value of the route's schema, or a stream. */
export type RouteAnswer<I extends RouteId> = Routes[I] extends {
  readonly success: { readonly contentType: 'text/event-stream' | 'text/csv' };
}
  ? StreamedAnswer
  : RouteResult<I>;

export type Handler<I extends RouteId> = (call: Call<I>) => Promise<RouteAnswer<I>>;

/** The handlers of a module. A management route of the contract without a handler answers 501. */
export type Handlers = { readonly [I in RouteId]?: Handler<I> };

/** A call and a handler of any route, for code that treats all of them alike: the route's schemas have checked the call. */
export type AnyCall = Omit<Call<RouteId>, 'params' | 'query' | 'body'> & {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
};
export type AnyHandler = (call: AnyCall) => Promise<unknown>;
