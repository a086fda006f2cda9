import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Fault } from '@relay/provider-sim';
import type { RawAnswer } from '../harness/raw-exchange.ts';

// Providers' errors show the key that they were sent, and their headers lead elsewhere.

/** Placeholders in the texts of a fault: the key in all forms, and an address of a third party. */
export const QUOTED_KEY = '<key>';
export const ELSEWHERE = '<elsewhere>';

/** Letters that no ID has, so that a piece of a key is found by its letters alone. */
const LETTERS = 'ghijklmnopqrstuv';
const PIECE = 8;

/** A credential as providers issue them: no two share more than their beginning. */
export function newKey(): string {
  const letters = [...randomBytes(12).toString('hex')].map((digit) => LETTERS[Number.parseInt(digit, 16)]);
  return `sk-${letters.join('')}`;
}

/** The forms in which providers show a key. */
function shownForms(key: string): string[] {
  return [
    key,
    `${key.slice(0, 6)}...${key.slice(-4)}`,
    `********${key.slice(-4)}`,
    `${key.slice(0, 8)}••••`,
    key.slice(3, 12),
  ];
}

const quoteOf = (key: string) => shownForms(key).join(', ');
const CLEAN_QUOTE = shownForms('')
  .map(() => '[redacted]')
  .join(', ');

/** What a text tells of the keys: eight letters of one in a row, or a form that shows fewer. */
export function toldOf(text: string, keys: readonly string[]): string[] {
  const pieces = new Set(keys.flatMap((key) => piecesOf(key.slice('sk-'.length))));
  const long = [...text.matchAll(/[g-v]{8,}/g)].flatMap(([run]) => piecesOf(run));
  const short = [...text.matchAll(/sk-[g-v]{3}\.\.\.|\*{8}[g-v]{4}|sk-[g-v]{5}•/g)].map(([form]) => form);
  return [...new Set([...long.filter((piece) => pieces.has(piece)), ...short])];
}

function piecesOf(text: string): string[] {
  return Array.from({ length: text.length - PIECE + 1 }, (_, at) => text.slice(at, at + PIECE));
}

/** Headers that would lead the client elsewhere, set something at it, or show the key. */
function steeringHeaders(key: string, elsewhere: string): Record<string, string> {
  return {
    location: elsewhere,
    refresh: `0; url=${elsewhere}`,
    link: `<${elsewhere}>; rel="canonical"`,
    'content-location': elsewhere,
    'alt-svc': 'h2="127.0.0.1:9"',
    'set-cookie': `key=${key}`,
    'www-authenticate': `Bearer realm="${key}"`,
    'proxy-authenticate': `Basic realm="${key}"`,
    'x-api-key': key,
    'openai-organization': key,
    'openai-version': key,
  };
}

/** The headers of these that never reach the client; `openai-version` does when it has no key. */
export const WITHHELD = Object.keys(steeringHeaders('', '')).filter((name) => name !== 'openai-version');

/** What the provider does: the fault, where an error has headers that steer, and by default a body that shows the key. */
export function faultFor(given: Fault, key: string, elsewhere: string): Fault {
  const text = JSON.stringify(given).replaceAll(QUOTED_KEY, quoteOf(key)).replaceAll(ELSEWHERE, elsewhere);
  const fault = JSON.parse(text) as Fault;
  const quotes = text.includes(key);
  const { status = fault.redirectTo === undefined ? 200 : 302, html200, emptyBody } = fault;
  if (status < 300 && !quotes) return fault;
  const ownBody = quotes || status === 304 || html200 === true || emptyBody === true;
  return {
    ...(ownBody ? {} : { body: { error: { message: `Key ${quoteOf(key)}`, type: 'x' } } }),
    ...fault,
    headers: { ...steeringHeaders(key, elsewhere), ...fault.headers },
  };
}

/** The provider's answer as a client may see it. A compressed one that shows the key arrives unpacked. */
export function withoutKey(answer: RawAnswer, key: string): RawAnswer {
  if (!JSON.stringify(answer.headers).includes(key)) return answer;
  const isPacked = answer.headers['content-encoding'] === 'gzip';
  const body = (isPacked ? gunzipSync(answer.body) : answer.body).toString();
  // A header that shows the key does not arrive at all.
  const { 'openai-version': _shown, ...headers } = answer.headers;
  return {
    ...answer,
    headers,
    body: Buffer.from(body.replaceAll(quoteOf(key), CLEAN_QUOTE)),
  };
}
