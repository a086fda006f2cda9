import { objectOf } from '../kit/json-value.ts';

const CHARACTERS_MAX = 300;
/** Shorter parts of a secret occur in ordinary words; a longer minimum would let half of a secret through. */
const PIECE_CHARACTERS = 6;
const KEY_LIKE = /\b(?:bearer\s+\S+|(?:sk|pk|rk|rly|key|token|secret)[-_][\w*.…-]{4,})|[\w-]*\*{3,}[\w-]*/gi;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;
const REDACTED = '[redacted]';

/** The part of a provider's text that may be shown: short, on one line, and without any part of the secret it was sent. */
export function shownText(text: string, secret: string | null): string {
  const plain = text
    .slice(0, CHARACTERS_MAX * 10)
    .replaceAll(CONTROL, ' ')
    .trim();
  const safe = withoutSecret(plain, secret).replaceAll(KEY_LIKE, REDACTED);
  return safe.length <= CHARACTERS_MAX ? safe : `${safe.slice(0, CHARACTERS_MAX - 1)}…`;
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

/** Providers nest the message at most once. */
function messageIn(value: unknown, nested = false): string | null {
  const { error, message, detail } = objectOf(value);
  if (!nested && typeof error === 'object' && error !== null) return messageIn(error, true);
  return [message, error, detail].find((each) => typeof each === 'string') ?? null;
}

/** Removes every part of the text that is also a part of the secret, ignoring case. */
export function withoutSecret(text: string, secret: string | null): string {
  if (secret === null || secret === '') return text;
  const length = Math.min(PIECE_CHARACTERS, secret.length);
  const folded = secret.toLowerCase();
  const pieces = new Set<string>();
  for (let at = 0; at + length <= folded.length; at += 1) pieces.add(folded.slice(at, at + length));
  const hidden = new Array<boolean>(text.length).fill(false);
  for (let at = 0; at + length <= text.length; at += 1) {
    if (pieces.has(text.slice(at, at + length).toLowerCase())) hidden.fill(true, at, at + length);
  }
  return text
    .split('')
    .map((character, at) => (hidden[at] === true ? (hidden[at - 1] === true ? '' : REDACTED) : character))
    .join('');
}
