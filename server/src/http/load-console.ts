import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

export interface ConsoleFile {
  /** Its path below the folder, with forward slashes. */
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly etag: string;
  /** Compressed on the first request; null when compression gains nothing. */
  readonly brotli: () => Buffer | null;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.svg', '.json']);

/** Reads the built console into memory once; it is small. Empty when it was not built. */
export function loadConsole(directory: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  if (!existsSync(directory)) return files;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const contentType = TYPES[extname(entry.name)];
    if (!entry.isFile() || contentType === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(directory.length).replaceAll('\\', '/').replace(/^\/+/, '');
    files.set(name, fileOf(name, contentType, readFileSync(path)));
  }
  return files;
}

function fileOf(name: string, contentType: string, bytes: Buffer): ConsoleFile {
  let compressed: Buffer | null = null;
  return {
    name,
    contentType,
    bytes,
    etag: `"${hash('sha256', bytes, 'hex').slice(0, 32)}"`,
    brotli() {
      if (!COMPRESSIBLE.has(extname(name))) return null;
      compressed ??= brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
      return compressed;
    },
  };
}
