/**
 * A path of this deployment to redirect a browser to, as the browser reads it; null for anything that leads elsewhere.
 * Slashes, backslashes and dots can be written so that they name another host only after resolution.
 */
export function localPath(text: string, publicUrl: string): string | null {
  if (!text.startsWith('/') || !URL.canParse(text, publicUrl)) return null;
  const url = new URL(text, publicUrl);
  if (url.origin !== new URL(publicUrl).origin || url.pathname.startsWith('//')) return null;
  return url.pathname + url.search + url.hash;
}
