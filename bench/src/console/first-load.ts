import { gzipSync } from 'node:zlib';

/** The JavaScript that a browser fetches before it can draw anything, gzipped. What the server sends is Brotli, and less. */
export async function firstLoadBytes(url: string): Promise<number> {
  const html = (await read(`${url}/console/`)).toString();
  const paths = [...html.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, path]) => path ?? '');
  if (paths.length === 0) throw new Error('the console page has no script');
  const sizes = await Promise.all(
    paths.map(async (path) => gzipSync(await read(new URL(path, `${url}/console/`).href)).byteLength),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function read(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
