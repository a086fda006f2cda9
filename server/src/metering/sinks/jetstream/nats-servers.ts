import { Secret } from '../../../kit/secret.ts';

/** The NATS servers that the operator configured: one, or several of a cluster. */
export interface NatsServers {
  /** `host:port`. */
  readonly addresses: readonly string[];
  /** True: a server without TLS is refused. False: TLS is used where the server offers it. */
  readonly isTlsRequired: boolean;
  readonly login: NatsLogin | null;
}

/** A token has no password. */
export interface NatsLogin {
  readonly user: Secret;
  readonly password: Secret | null;
}

const PORT = '4222';
const FORM = 'must be a URL such as nats://nats:4222 or tls://user:password@nats.example.com:4222';

/** Reads one URL, or several separated by commas. No message repeats the value, which may have a password. */
export function parseNatsUrl(value: string): NatsServers {
  const urls = value.split(',').map((each) => oneUrl(each.trim()));
  const [first] = urls;
  if (first === undefined) throw new Error(FORM);
  if (urls.some((url) => url.protocol !== first.protocol))
    throw new Error('must have the same scheme in all its URLs, nats:// or tls://');
  const logins = urls.filter(({ username }) => username !== '');
  const [named = first] = logins;
  if (logins.some((url) => url.username !== named.username || url.password !== named.password))
    throw new Error('must have the same user and password in all its URLs, or in the first one only');
  return {
    addresses: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? PORT : port}`),
    isTlsRequired: first.protocol === 'tls:',
    login: loginOf(named),
  };
}

function oneUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || url.hostname === '' || (url.protocol !== 'nats:' && url.protocol !== 'tls:'))
    throw new Error(FORM);
  if ((url.pathname !== '' && url.pathname !== '/') || url.search !== '' || url.hash !== '')
    throw new Error(
      'must be an address without a path or parameters; write special characters of the password as %XX',
    );
  return url;
}

function loginOf({ username, password }: URL): NatsLogin | null {
  if (username === '' && password === '') return null;
  if (username === '')
    throw new Error('must have a user before the password; a token needs no user: nats://token@host');
  try {
    return {
      user: new Secret(decodeURIComponent(username)),
      password: password === '' ? null : new Secret(decodeURIComponent(password)),
    };
  } catch {
    throw new Error('has a % in its user or password that is not followed by 2 hex digits; write % as %25');
  }
}
