import type { ServerResponse } from 'node:http';
import { RelayError } from '../domain/relay-error.ts';
import type { RequestHandler } from './listener.ts';
import type { ConsoleFile } from './load-console.ts';
import { isReading } from './reading-methods.ts';
import { refuseRequest } from './refuse-request.ts';

export interface ConsoleFilesDeps {
  /** Path below `/console/` → file. Only these files can be requested, so no path leads outside. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
  readonly newNonce: () => string;
  readonly publicUrl: string;
}

const HOME = '/console/';
const INDEX = 'index.html';
const INVITATION = '/accept-invitation';
/** Their names contain a hash of their content, so they can be cached forever. */
const HASHED = /^assets\//;
const NONCE_PLACE = 'STYLE_NONCE';

/** Answers below `/console/`, redirects browsers there from `/`, and passes everything else on. */
export function createConsoleFiles(deps: ConsoleFilesDeps, everythingElse: RequestHandler): RequestHandler {
  return (request, response, requestId) => {
    const [path = '', search] = request.url?.split('?', 2) ?? [];
    const wantsPage = request.headers.accept?.includes('text/html') === true;
    if ((path === '/' && wantsPage && isReading(request.method)) || path === '/console') {
      redirect(response, search === undefined ? HOME : `${HOME}?${search}`);
      return;
    }
    // Invitations link here. The token is in the fragment, which browsers do not send.
    if (path === INVITATION) {
      redirect(response, HOME.slice(0, -1) + INVITATION);
      return;
    }
    if (!path.startsWith(HOME)) {
      everythingElse(request, response, requestId);
      return;
    }
    const refuse = (error: RelayError) =>
      refuseRequest(request, response, error, { requestId, publicUrl: deps.publicUrl });
    if (!isReading(request.method)) {
      refuse(new RelayError('method_not_allowed', { headers: { allow: 'GET, HEAD' } }));
      return;
    }
    const name = path.slice(HOME.length);
    // A path that is not a file is a page, which the index renders. A missing asset is a 404, not a page.
    const file = deps.files.get(name) ?? (HASHED.test(name) ? undefined : deps.files.get(INDEX));
    if (file === undefined) {
      refuse(
        new RelayError('route_not_found', {
          message: HASHED.test(name)
            ? 'The console doesn’t have this file. Reload the page: a newer version may be running.'
            : 'This server was started without the console. Build it with `npm run build:console`, then restart the server.',
        }),
      );
      return;
    }
    if (file.name === INDEX) sendIndex(response, file, deps.newNonce());
    else sendFile(response, file, request.headers);
  };
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location, 'cache-control': 'no-store', 'content-length': '0' });
  response.end();
}

/**
 * The policy allows the page its own files and nothing else. Dialogs stop the page behind them from scrolling with a style
 * element, which the nonce allows; no script is inline.
 */
function policyOf(nonce: string | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === null ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const SECURITY = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** The index names the files of one version, so a cached copy would request files that no longer exist. */
function sendIndex(response: ServerResponse, file: ConsoleFile, nonce: string): void {
  const body = file.bytes.toString('utf8').replaceAll(NONCE_PLACE, nonce);
  response.writeHead(200, {
    ...SECURITY,
    'content-type': file.contentType,
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'content-security-policy': policyOf(nonce),
  });
  response.end(body);
}

function sendFile(
  response: ServerResponse,
  file: ConsoleFile,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): void {
  const list: Record<string, string> = {
    ...SECURITY,
    'content-type': file.contentType,
    'cache-control': HASHED.test(file.name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': policyOf(null),
    etag: file.etag,
    vary: 'accept-encoding',
  };
  if (headers['if-none-match'] === file.etag) {
    response.writeHead(304, list);
    response.end();
    return;
  }
  const brotli = /\bbr\b/.test(String(headers['accept-encoding'] ?? '')) ? file.brotli() : null;
  const body = brotli ?? file.bytes;
  if (brotli !== null) list['content-encoding'] = 'br';
  list['content-length'] = String(body.byteLength);
  response.writeHead(200, list);
  response.end(body);
}
