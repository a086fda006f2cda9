import { isLoopbackHost } from '../kit/loopback.ts';
import { Secret } from '../kit/secret.ts';

/** The mail server that the operator configured. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `implicit`: from the first byte. `required`, `optional`: by STARTTLS. `none`: never. */
  readonly tls: 'implicit' | 'required' | 'optional' | 'none';
  readonly login: { readonly user: string; readonly password: Secret } | null;
}

export interface Sender {
  readonly name: string;
  readonly address: string;
}

const PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;
const ADDRESS = /^[^\s@<>"(),:;[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/;

/** Reads `smtps://user:password@host:465` or `smtp://…`. No message repeats the value, which has a password. */
export function parseSmtpUrl(value: string): SmtpServer {
  const url = URL.canParse(value) ? new URL(value) : null;
  const scheme = url?.protocol;
  if (url === null || url.hostname === '' || (scheme !== 'smtps:' && scheme !== 'smtp:'))
    throw new Error(
      'must be a URL such as smtps://user:password@mail.example.com:465, or smtp:// for STARTTLS',
    );
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '')
    throw new Error('must be an address without a path; write special characters of the password as %XX');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const login = loginOf(url);
  const tls = scheme === 'smtps:' ? 'implicit' : tlsOf(url, login === null && isLoopbackHost(host));
  if (scheme === 'smtps:' && url.search !== '') throw new Error('must have no parameters with smtps://');
  if (tls === 'none' && login !== null)
    throw new Error('must not have a password with tls=none, which would send it in plain text');
  return { host, port: url.port === '' ? PORTS[scheme] : Number(url.port), tls, login };
}

/** A server on this machine may do without TLS, if no password is sent; any other must offer it, unless the operator says otherwise. */
function tlsOf(url: URL, isPrivate: boolean): SmtpServer['tls'] {
  const asked = url.searchParams.get('tls');
  if (url.search !== '' && (asked !== 'none' || url.searchParams.size > 1))
    throw new Error('supports only one parameter: tls=none, for a server without TLS');
  if (asked === 'none') return 'none';
  return isPrivate ? 'optional' : 'required';
}

function loginOf(url: URL): SmtpServer['login'] {
  if (url.username === '' && url.password === '') return null;
  if (url.username === '' || url.password === '')
    throw new Error('must have both a user and a password, or neither');
  try {
    return {
      user: decodeURIComponent(url.username),
      password: new Secret(decodeURIComponent(url.password)),
    };
  } catch {
    throw new Error('has a % in its user or password that is not followed by 2 hex digits; write % as %25');
  }
}

/** Reads `relay@example.com` or `Relay <relay@example.com>`. */
export function parseMailFrom(value: string): Sender {
  const [, name, address] = /^([^<>]*)<([^<>]+)>$/.exec(value) ?? [null, '', value];
  const sender = { name: (name ?? '').trim().replace(/^"(.*)"$/, '$1'), address: (address ?? '').trim() };
  if (!ADDRESS.test(sender.address) || /\p{Cc}/u.test(sender.name))
    throw new Error('must be an email address, such as relay@example.com or Relay <relay@example.com>');
  return sender;
}
