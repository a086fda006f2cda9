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

/** All fonts that the styles name; a browser fetches those of the characters that it draws. */
export async function fontBytes(url: string): Promise<number> {
  const html = (await read(`${url}/console/`)).toString();
  const fonts = new Set<string>();
  for (const [, href = ''] of html.matchAll(/href="([^"]+\.css)"/g)) {
    const styles = new URL(href, `${url}/console/`);
    for (const [, font = ''] of (await read(styles.href)).toString().matchAll(/url\("?([^")]+\.woff2)"?\)/g))
      fonts.add(new URL(font, styles).href);
  }
  if (fonts.size === 0) throw new Error('the styles of the console name no font');
  const sizes = await Promise.all([...fonts].map(async (font) => (await read(font)).byteLength));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function read(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
