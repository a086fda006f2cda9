import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerDescriptions, headerKeys, headers } from '@relay/contract';
import type { RequestHandler } from './listener.ts';

/** A browser asks again after this time, so that an origin that was taken off the list is soon refused. */
const PREFLIGHT_SECONDS = '600';

/** What a page may read of an answer, besides its body. */
const EXPOSED = headerKeys
  .filter((key) => headerDescriptions[key].direction !== 'request')
  .map((key) => headers[key].toLowerCase())
  .filter((name) => /^(?:x-relay-|x-ratelimit-|(?:x-)?request-id$|x-should-retry$|retry-after)/.test(name))
  .join(', ');

/**
 * Lets pages of the configured origins call the handler from a browser. Everybody else is answered as if this were not here:
 * browsers then keep the answer from the page.
 *
 * Credentials are never allowed, so a page cannot use the session cookie of the console: it needs a key of its own. The origin is
 * compared as a whole and sent back only if it is on the list.
 */
export function withCors(origins: ReadonlySet<string>, handler: RequestHandler): RequestHandler {
  if (origins.size === 0) return handler;
  return (request, response, requestId) => {
    // Also on answers to other origins: a cache must not give them to this one.
    response.setHeader('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !origins.has(origin)) {
      handler(request, response, requestId);
      return;
    }
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', EXPOSED);
    if (isPreflight(request)) answerPreflight(response, requestId);
    else handler(request, response, requestId);
  };
}

function isPreflight({ method, headers: sent }: IncomingMessage): boolean {
  return method === 'OPTIONS' && sent['access-control-request-method'] !== undefined;
}

/** Browsers send preflights without the key, so they cannot be authenticated; the answer tells nothing about the path. */
function answerPreflight(response: ServerResponse, requestId: string): void {
  response.writeHead(204, {
    [headers.requestId]: requestId,
    'access-control-allow-methods': 'GET, HEAD, POST',
    // The wildcard does not include Authorization.
    'access-control-allow-headers': 'Authorization, *',
    'access-control-max-age': PREFLIGHT_SECONDS,
  });
  response.end();
}
