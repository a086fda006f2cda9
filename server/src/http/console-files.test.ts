import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { createConsoleFiles } from './console-files.ts';
import { loadConsole } from './load-console.ts';

const INDEX = '<!doctype html><meta name="style-nonce" content="STYLE_NONCE">';
const SCRIPT = 'console.info("hello");'.repeat(100);

/** Word for word: each of these lines is one thing that a page cannot be made to do, such as to be framed. */
function securityWith(nonce: string): Record<string, unknown> {
  return {
    'content-security-policy': [
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "font-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "script-src 'self'",
      `style-src 'self'${nonce}`,
    ],
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  };
}

function securityOf(headers: IncomingMessage['headers']): Record<string, unknown> {
  const { 'content-security-policy': policy } = headers;
  const named = Object.keys(securityWith('')).map((name) => [name, headers[name]]);
  return { ...Object.fromEntries(named), 'content-security-policy': String(policy).split('; ').sort() };
}

describe('the console’s files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-console-'));
  const server = createServer();
  let nonces = 0;

  before(async () => {
    mkdirSync(join(folder, 'dist/assets'), { recursive: true });
    writeFileSync(join(folder, 'secret.js'), 'outside');
    writeFileSync(join(folder, 'dist/index.html'), INDEX);
    writeFileSync(join(folder, 'dist/theme.js'), 'dark();');
    writeFileSync(join(folder, 'dist/assets/main-abc123.js'), SCRIPT);
    const handle = createConsoleFiles(
      {
        files: loadConsole(join(folder, 'dist')),
        newNonce: () => `nonce${++nonces}`,
        publicUrl: 'http://relay.example',
      },
      (_request, response) => {
        response.writeHead(418);
        response.end('everything else');
      },
    );
    server.on('request', (request, response) => handle(request, response, 'request-1'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** The path goes out as it is written: a client library would tidy it up. */
  function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
    const { port } = server.address() as AddressInfo;
    return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>(
      (resolve, reject) => {
        const sent = httpRequest({ port, path, method, headers, host: '127.0.0.1' }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              body: Buffer.concat(chunks),
            }),
          );
        });
        sent.on('error', reject);
        sent.end();
      },
    );
  }

  it('the index is never kept, forbids inline scripts and has a nonce of its own', async () => {
    const first = await get('/console/');
    const second = await get('/console/');
    assert.equal(first.status, 200);
    assert.equal(first.headers['cache-control'], 'no-store');
    const nonceOf = (body: Buffer) => /content="(\w+)"/.exec(body.toString())?.[1] ?? '';
    assert.ok(nonceOf(first.body));
    assert.deepEqual(securityOf(first.headers), securityWith(` 'nonce-${nonceOf(first.body)}'`));
    assert.notEqual(nonceOf(first.body), nonceOf(second.body));
  });

  it('every other file has the same policy without a nonce', async () => {
    for (const path of ['/console/theme.js', '/console/assets/main-abc123.js'])
      assert.deepEqual(securityOf((await get(path)).headers), securityWith(''), path);
  });

  it('an address of a page answers the index, and a missing asset answers 404', async () => {
    assert.match((await get('/console/lanes/abc?range=7d')).body.toString(), /doctype/);
    const missing = await get('/console/assets/main-old.js');
    assert.equal(missing.status, 404);
    assert.match(missing.body.toString(), /route_not_found/);
  });

  it('a hashed asset is kept for ever and sent compressed; other files are asked for again', async () => {
    const asset = await get('/console/assets/main-abc123.js', { 'accept-encoding': 'gzip, br' });
    assert.match(String(asset.headers['cache-control']), /immutable/);
    assert.equal(asset.headers['content-encoding'], 'br');
    assert.equal(brotliDecompressSync(asset.body).toString(), SCRIPT);
    const theme = await get('/console/theme.js');
    assert.equal(theme.headers['cache-control'], 'no-cache');
    assert.equal(theme.headers['content-type'], 'text/javascript; charset=utf-8');
    const again = await get('/console/theme.js', { 'if-none-match': String(theme.headers.etag) });
    assert.equal(again.status, 304);
  });

  it('no path leads out of the folder', async () => {
    const attempts = [
      '/console/../secret.js',
      '/console/..%2fsecret.js',
      '/console/%2e%2e/secret.js',
      '/console/assets/../../secret.js',
      '/console/assets/..%5c..%5csecret.js',
      '/console//etc/passwd',
      `/console/${join(folder, 'secret.js')}`,
      '/console/__proto__',
    ];
    for (const path of attempts) {
      const { body, status } = await get(path);
      assert.doesNotMatch(body.toString(), /outside|root:/, path);
      assert.ok(status === 200 || status === 404, path);
    }
  });

  it('only GET is taken', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await get('/console/', {}, method);
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.allow, 'GET, HEAD');
    }
  });

  it('a browser at / is sent to the console; whatever is no browser is not', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml' });
    assert.equal(browser.status, 302);
    assert.equal(browser.headers.location, '/console/');
    assert.equal((await get('/', { accept: 'application/json' })).status, 418);
    assert.equal((await get('/console')).headers.location, '/console/');
    assert.equal((await get('/consoles')).status, 418);
    assert.equal((await get('/accept-invitation')).headers.location, '/console/accept-invitation');
  });

  it('a server without a built console says so', async () => {
    const files = loadConsole(join(folder, 'nowhere'));
    assert.equal(files.size, 0);
  });
});
