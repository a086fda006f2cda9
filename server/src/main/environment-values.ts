import { isAbsolute } from 'node:path';
import { countWords } from '@relay/contract/words';
import { InvalidCidrError, parseCidr } from '../kit/egress/index.ts';
import { parseMasterKey } from '../kit/seal.ts';
import { parseRedisUrls } from '../store/redis/redis-urls.ts';

// Parsers of environment values. Each throws with a message that says what the value must be.

const TOKEN_CHARACTERS_MIN = 32;
/** Long enough that a random value does not begin like one: `xxx` would begin 1 of 33,000 in base64. */
const PLACEHOLDER =
  /^(?:change|replace|your[-_.]|example|placeholder|secret|token|password|xxxxxx|test[-_.])|(.)\1{7}/i;

export function url(...schemes: string[]): (value: string) => string {
  return (value) => {
    const ok = URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1));
    if (!ok)
      throw new Error(`must be a URL starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
    return value;
  };
}

export function oneOf<T extends string>(...allowed: T[]): (value: string) => T {
  return (value) => {
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };
}

export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const parsed = Number(value);
    if (!/^\d+$/.test(value) || parsed < min || parsed > max)
      throw new Error(`must be a whole number from ${countWords(min)} to ${countWords(max)}`);
    return parsed;
  };
}

/** A share, such as 0.01. */
export function ratio(value: string): number {
  const parsed = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || parsed > 1) throw new Error('must be a number from 0 to 1, such as 0.01');
  return parsed;
}

/** The address of an OTLP receiver. Without a path it is that of OTLP over HTTP. */
export function tracesUrl(value: string): { readonly origin: string; readonly path: string } {
  const parsed = new URL(url('http', 'https')(value));
  if (parsed.username !== '' || parsed.password !== '')
    throw new Error('must have no user or password; send them with RELAY_TRACES_HEADERS');
  const path = parsed.pathname === '/' ? '/v1/traces' : parsed.pathname;
  return { origin: parsed.origin, path: `${path}${parsed.search}` };
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Names and values in turn. Values may be percent-encoded, as in `OTEL_EXPORTER_OTLP_HEADERS`. */
export function headerList(value: string): readonly string[] {
  return list(value).flatMap((each) => {
    const at = each.indexOf('=');
    const name = each.slice(0, at).trim();
    const text = decoded(each.slice(at + 1).trim());
    if (at < 1 || !HEADER_NAME.test(name) || !/^[\x20-\x7e]*$/.test(text))
      throw new Error('must be headers such as authorization=Bearer%20abc,x-tenant=1');
    return [name, text];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '\0';
  }
}

export function token(value: string): string {
  if (value.length < TOKEN_CHARACTERS_MIN)
    throw new Error(`must have at least ${TOKEN_CHARACTERS_MIN} characters`);
  if (PLACEHOLDER.test(value)) throw new Error('looks like a placeholder; use a random value');
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must be printable ASCII without spaces');
  return value;
}

export function list(value: string): string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

export function tokens(value: string): string[] {
  return list(value).map(token);
}

export function masterKey(value: string): Buffer {
  try {
    return parseMasterKey(value);
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : 'must be 32 random bytes in base64 or hex');
  }
}

export function thirtyTwoBytes(value: string): Buffer {
  const isHex = /^[0-9a-f]{64}$/i.test(value);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) throw new Error('must be 32 bytes in base64 or hex');
  const bytes = Buffer.from(value, isHex ? 'hex' : 'base64');
  // 32 random bytes have few duplicates and are never all printable.
  if (new Set(bytes).size < 16 || bytes.every((byte) => byte >= 0x20 && byte < 0x7f))
    throw new Error('looks like a placeholder; `relay context-key` prints a new pair');
  return bytes;
}

/** Small-order points, for which anyone can forge a signature. The others of this kind fail the check for 16 different bytes. */
const SMALL_ORDER = [
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
];

export function ed25519PublicKey(value: string): Buffer {
  const bytes = thirtyTwoBytes(value);
  const unsigned = Buffer.from(bytes);
  unsigned.writeUInt8((bytes.at(-1) ?? 0) & 0x7f, 31);
  if (SMALL_ORDER.includes(unsigned.toString('hex')))
    throw new Error('has an entry that is not a public key');
  return bytes;
}

/** An address without a path, because a context is signed for the client's own path. */
export function origin(value: string): string {
  const parsed = new URL(url('http', 'https')(value));
  if (
    parsed.username !== '' ||
    parsed.password !== '' ||
    `${parsed.pathname}${parsed.search}${parsed.hash}` !== '/'
  )
    throw new Error('must be an address without a path, such as http://inference:8080');
  return parsed.origin;
}

/** Origins as browsers send them. A wildcard would admit every page in a browser that reaches this deployment. */
export function origins(value: string): string[] {
  return list(value).map((each) => {
    if (each === '*')
      throw new Error('does not support wildcards; list the origins, such as https://app.example.com');
    try {
      return origin(each);
    } catch {
      throw new Error(
        `has an entry that is not an origin: each is a scheme and a host, such as https://app.example.com`,
      );
    }
  });
}

export function networks(value: string): string[] {
  const given = list(value);
  for (const each of given) {
    try {
      parseCidr(each);
    } catch (error) {
      if (error instanceof InvalidCidrError) throw new Error(`has an invalid entry: ${error.message}`);
      throw error;
    }
  }
  return given;
}

export function redisUrls(value: string): string {
  parseRedisUrls(value);
  return value;
}

export function stripeSecret(value: string): string {
  if (!/^whsec_[\x21-\x7e]{16,}$/.test(value))
    throw new Error('must be the signing secret of a webhook, which starts with whsec_');
  return value;
}

export function absolutePath(value: string): string {
  if (!isAbsolute(value)) throw new Error('must be an absolute path, such as /var/lib/relay/spool');
  return value;
}

export function configPath(value: string): string {
  if (!isAbsolute(value)) throw new Error('must be an absolute path, such as /etc/relay/relay.yaml');
  return value;
}

/** A stream's name is also the first word of its subjects. */
export function streamName(value: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(value))
    throw new Error('must have 1 to 64 letters, digits, dashes and underscores');
  return value;
}

export function listenAddress(value: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new Error('must be host:port, such as 127.0.0.1:8080 or [::]:8080');
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}
