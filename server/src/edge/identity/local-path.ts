/**
 * A path of this deployment to send a browser to, as a browser itself would read it; null for what would lead anywhere
 * else. Slashes, backslashes and dots can be written so that they name another host only once they are resolved.
 */
export function localPath(text: string, publicUrl: string): string | null {
  if (!text.startsWith('/') || !URL.canParse(text, publicUrl)) return null;
  const url = new URL(text, publicUrl);
  if (url.origin !== new URL(publicUrl).origin || url.pathname.startsWith('//')) return null;
  return url.pathname + url.search + url.hash;
}
