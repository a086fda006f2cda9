/** The first cookie of this name, or null. */
export function cookieOf(header: string | undefined, name: string): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return null;
}

export interface CookieSettings {
  readonly name: string;
  readonly path: string;
  /** Sent over HTTPS only. */
  readonly secure: boolean;
}

/** Scripts cannot read it, and other sites cannot make a browser send it with a write. */
export function setCookie(settings: CookieSettings, value: string, maxAgeMs: number): string {
  const parts = [
    `${settings.name}=${value}`,
    `Path=${settings.path}`,
    `Max-Age=${Math.floor(maxAgeMs / 1_000)}`,
    'HttpOnly',
    'SameSite=Lax',
  ];
  if (settings.secure) parts.push('Secure');
  return parts.join('; ');
}

export function clearCookie(settings: CookieSettings): string {
  return setCookie(settings, '', 0);
}
