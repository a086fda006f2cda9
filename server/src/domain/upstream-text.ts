import { objectOf } from '../kit/json-value.ts';
import { withoutDisguises } from './disguised-secret.ts';

const CHARACTERS_MAX = 300;
/** Shorter parts of a secret occur in ordinary words; a longer minimum would let half of a secret through. */
const PIECE_CHARACTERS = 6;
const KEY_LIKE = /\b(?:bearer\s+\S+|(?:sk|pk|rk|rly|key|token|secret)[-_][\w*.…-]{4,})|[\w-]*\*{3,}[\w-]*/gi;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;
const URL_QUERY = /(\bhttps?:\/\/[^\s?#"'<>]*)[?#][^\s"'<>]*/gi;
const REDACTED = '[redacted]';
/** For text that goes to a client unchanged otherwise: shorter parts of a secret such as `sk-proj` are in ordinary advice. */
const PASSED_PIECE_CHARACTERS = 8;
/** Between the first and the last characters of a key that a provider shows in part. */
const MASK = /\*{2,}|\.{3,}|…+|•{2,}/g;
/** Of the start or the end of a secret; fewer characters identify nothing. */
const MASKED_CHARACTERS_MIN = 3;
const MASKED_CHARACTERS_MAX = 64;

/** The part of a provider's text that may be shown: short, on one line, and without any part of the secret it was sent. */
export function shownText(text: string, secret: string | null): string {
  const plain = text
    .slice(0, CHARACTERS_MAX * 10)
    .toWellFormed()
    .replaceAll(CONTROL, ' ')
    .trim();
  const unmasked = passableText(withoutSecret(plain, secret), secret);
  const safe = withoutDisguises(unmasked, secret, REDACTED)
    .replaceAll(KEY_LIKE, REDACTED)
    .replaceAll(URL_QUERY, '$1');
  return safe.length <= CHARACTERS_MAX ? safe : `${safe.slice(0, CHARACTERS_MAX - 1).toWellFormed()}…`;
}

/**
 * A provider's own text for a client: the same, unless it contains the secret, a long part of it, or a masked form of it such as
 * `sk-...abcd`.
 */
export function passableText(text: string, secret: string | null): string {
  if (secret === null || secret === '') return text;
  const length = Math.min(PASSED_PIECE_CHARACTERS, secret.length);
  const unmasked = withoutMasked(text, secret);
  const mentions = piecesOf(secret, length).some((piece) => unmasked.includes(piece));
  return mentions ? withoutPieces(unmasked, secret, length, (part) => part) : unmasked;
}

function withoutMasked(text: string, secret: string): string {
  let shown = '';
  let done = 0;
  for (const { 0: mask, index } of text.matchAll(MASK)) {
    const start = /[\w-]*$/.exec(text.slice(Math.max(done, index - MASKED_CHARACTERS_MAX), index))?.[0] ?? '';
    const after = index + mask.length;
    const end = /^[\w-]*/.exec(text.slice(after, after + MASKED_CHARACTERS_MAX))?.[0] ?? '';
    const isStart = start.length >= MASKED_CHARACTERS_MIN && secret.startsWith(start);
    const isEnd = end.length >= MASKED_CHARACTERS_MIN && secret.endsWith(end);
    if (!isStart && !isEnd) continue;
    shown += text.slice(done, index - start.length) + REDACTED;
    done = after + end.length;
  }
  return shown + text.slice(done);
}

/** The message of an error in any of the shapes that providers use; null for other bodies, which are not shown. */
export function errorTextOf(body: Buffer, secret: string | null): string | null {
  const said = messageIn(parsed(body));
  return said === null || said.trim() === '' ? null : shownText(said, secret);
}

export function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Providers nest the message at most twice: `{error: {message}}`, `[{error: {message}}]`, `{detail: [{msg}]}`. */
const NESTED_MAX = 2;

function messageIn(value: unknown, nested = 0): string | null {
  if (Array.isArray(value)) return nested < NESTED_MAX ? messageIn(value[0], nested + 1) : null;
  const { error, errors, message, msg, detail } = objectOf(value);
  const said = [message, msg, error, detail].find((each) => typeof each === 'string');
  if (said !== undefined || nested === NESTED_MAX) return said ?? null;
  const inner = [error, errors, detail].find((each) => typeof each === 'object' && each !== null);
  return inner === undefined ? null : messageIn(inner, nested + 1);
}

/** Removes every part of the text that is also a part of the secret, ignoring case. */
export function withoutSecret(text: string, secret: string | null): string {
  if (secret === null || secret === '') return text;
  const length = Math.min(PIECE_CHARACTERS, secret.length);
  return withoutPieces(text, secret, length, (part) => part.toLowerCase());
}

function withoutPieces(text: string, secret: string, length: number, fold: (part: string) => string): string {
  const pieces = new Set(piecesOf(fold(secret), length));
  const hidden = new Array<boolean>(text.length).fill(false);
  for (let at = 0; at + length <= text.length; at += 1) {
    if (pieces.has(fold(text.slice(at, at + length)))) hidden.fill(true, at, at + length);
  }
  return text
    .split('')
    .map((character, at) => (hidden[at] === true ? (hidden[at - 1] === true ? '' : REDACTED) : character))
    .join('');
}

function piecesOf(secret: string, length: number): string[] {
  return Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length));
}
