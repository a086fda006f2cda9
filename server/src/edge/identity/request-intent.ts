import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import { isReading } from '../../http/reading-methods.ts';
import { csrfTokenOf, isSameText, type SessionSecrets } from './session-secrets.ts';

type Header = (name: string) => string | undefined;

/** Rejects a write with a session without that session's CSRF token. */
export function demandIntent(
  settings: { readonly secrets: Pick<SessionSecrets, 'accepted'>; readonly publicUrl: string },
  sessionId: string,
  request: { readonly method: string | undefined; readonly header: Header },
): void {
  // What changes nothing needs no protection.
  if (isReading(request.method)) return;
  demandOwnOrigin(settings.publicUrl, request.header);
  const sent = request.header(headers.csrfToken);
  const isOurs = (text: string) =>
    settings.secrets.accepted.some((secret) => isSameText(text, csrfTokenOf(secret, sessionId)));
  if (sent === undefined || !isOurs(sent)) throw new RelayError('csrf_failed');
}

/**
 * Rejects a write from a page of another origin. Browsers send the origin with every such request; other clients send none,
 * and have no cookies to abuse.
 */
export function demandOwnOrigin(publicUrl: string, header: Header): void {
  const origin = header('origin');
  if (origin === undefined) return;
  const own = URL.canParse(origin) ? new URL(origin) : null;
  if (own !== null && (own.origin === new URL(publicUrl).origin || own.host === header('host'))) return;
  throw new RelayError('csrf_failed', {
    message: `The request comes from a page on another site. Use the console at ${publicUrl}.`,
  });
}
