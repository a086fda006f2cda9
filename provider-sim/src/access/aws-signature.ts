import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Access, AccessRequest } from './access.ts';

interface AwsAccess {
  /** By access key id. May change while the simulator runs. */
  keys: ReadonlyMap<string, { secretAccessKey: string; sessionToken?: string }>;
  region: string;
  service: string;
  nowMs?: () => number;
}

const SKEW_MS_MAX = 5 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/ ]+)\/(\d{8})\/([^/ ]+)\/([^/ ]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

/** Checks signatures of AWS (Signature Version 4) as AWS does: by computing them from the bytes that arrived. */
export function awsAccess(given: AwsAccess): Access {
  return (request) => {
    const headers = byName(request.rawHeaders);
    const parts = AUTHORIZATION.exec(headers.get('authorization') ?? '');
    if (parts === null) return 'The request has no well-formed AWS signature.';
    const [, id = '', day = '', region, service, signed = '', signature = ''] = parts;
    const key = given.keys.get(id);
    if (key === undefined) return 'The security token included in the request is invalid.';
    if (region !== given.region || service !== given.service)
      return `Credential should be scoped to ${given.region}/${given.service}.`;
    const dateFault = faultOfDate(headers.get('x-amz-date') ?? '', day, given.nowMs?.() ?? Date.now());
    if (dateFault !== null) return dateFault;
    if ((headers.get('x-amz-security-token') ?? undefined) !== key.sessionToken)
      return 'The security token included in the request is invalid.';
    const names = signed.split(';');
    const unsigned = faultOfNames(names, headers);
    if (unsigned !== null) return unsigned;
    const bodyHash = sha256(request.body);
    if ((headers.get('x-amz-content-sha256') ?? bodyHash) !== bodyHash)
      return 'The provided x-amz-content-sha256 header does not match what was computed.';
    const canonical = canonicalRequest(request, headers, names, bodyHash);
    const scope = `${day}/${region}/${service}/aws4_request`;
    const toSign = ['AWS4-HMAC-SHA256', headers.get('x-amz-date'), scope, sha256(canonical)].join('\n');
    const expected = mac(signingKey(key.secretAccessKey, day, region, service), toSign);
    return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
      ? null
      : 'The request signature we calculated does not match the signature you provided.';
  };
}

function faultOfDate(date: string, day: string, nowMs: number): string | null {
  const [, year, month, date2, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  const atMs = Date.parse(`${year}-${month}-${date2}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(atMs) || !date.startsWith(day))
    return 'Date in Credential scope does not match x-amz-date.';
  return Math.abs(nowMs - atMs) > SKEW_MS_MAX ? 'Signature expired.' : null;
}

/** `host`, the content type and all `x-amz-*` have to be signed, and nothing that is not there. */
function faultOfNames(names: readonly string[], headers: ReadonlyMap<string, string>): string | null {
  if (names.join() !== [...new Set(names)].sort().join()) return 'SignedHeaders is not sorted.';
  const absent = names.find((name) => !headers.has(name));
  if (absent !== undefined) return `The signed header ${absent} is not in the request.`;
  const wanted = [...headers.keys()].filter((name) => name === 'content-type' || name.startsWith('x-amz-'));
  const missing = ['host', ...wanted].find((name) => !names.includes(name));
  return missing === undefined ? null : `The header ${missing} must be signed.`;
}

function canonicalRequest(
  { method, url }: AccessRequest,
  headers: ReadonlyMap<string, string>,
  names: readonly string[],
  bodyHash: string,
): string {
  const [path = '/', query = ''] = url.split('?');
  return [
    method,
    path.split('/').map(encoded).join('/'),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${(headers.get(name) ?? '').trim().replaceAll(/ +/g, ' ')}`),
    '',
    names.join(';'),
    bodyHash,
  ].join('\n');
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  const pairs = query.split('&').map((pair) => {
    const [name = '', value = ''] = pair.split('=');
    return `${encoded(decodeURIComponent(name))}=${encoded(decodeURIComponent(value))}`;
  });
  return pairs.sort().join('&');
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function byName(rawHeaders: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const before = headers.get(name);
    const value = (rawHeaders[at + 1] ?? '').trim();
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return headers;
}

function signingKey(secret: string, ...parts: string[]): Buffer {
  return [...parts, 'aws4_request'].reduce<Buffer>(mac, Buffer.from(`AWS4${secret}`));
}

function mac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
