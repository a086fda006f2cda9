/** Fewer characters than this occur in ordinary text once separators are left out. */
const PIECE_CHARACTERS = 8;
const LETTER = /[\p{L}\p{N}]/u;

/**
 * Hides parts of the secret that a text has in another form: with characters in between, reversed, in base64 or in hexadecimal.
 * Only letters and digits are compared, ignoring case, so separators do not matter.
 */
export function withoutDisguises(text: string, secret: string | null, hidden: string): string {
  if (secret === null) return text;
  const pieces = new Set(formsOf(secret).flatMap((form) => piecesOf(lettersOf(form).letters)));
  const { letters, places } = lettersOf(text);
  let shown = '';
  let done = 0;
  for (let at = 0; at + PIECE_CHARACTERS <= letters.length; at += 1) {
    if (!pieces.has(letters.slice(at, at + PIECE_CHARACTERS))) continue;
    const start = places[at] ?? 0;
    const end = (places[at + PIECE_CHARACTERS - 1] ?? 0) + 1;
    if (start >= done) shown += text.slice(done, start) + hidden;
    done = Math.max(done, end);
  }
  return shown + text.slice(done);
}

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Three bytes become four characters, so what precedes the secret shifts its encoding.
  const encoded = [0, 1, 2].map((shift) => Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64'));
  return [secret, [...secret].reverse().join(''), bytes.toString('hex'), ...encoded];
}

/** The letters and digits of a text, and where they stand in it. */
function lettersOf(text: string): { readonly letters: string; readonly places: readonly number[] } {
  const places: number[] = [];
  let letters = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const folded = character.toLowerCase();
    if (!LETTER.test(character) || folded.length !== 1) continue;
    letters += folded;
    places.push(at);
  }
  return { letters, places };
}

function piecesOf(letters: string): string[] {
  const count = Math.max(0, letters.length - PIECE_CHARACTERS + 1);
  return Array.from({ length: count }, (_, at) => letters.slice(at, at + PIECE_CHARACTERS));
}
