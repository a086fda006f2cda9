import { randomBytes } from 'node:crypto';

/** Something that must not be found where it does not belong. */
export interface Canary {
  readonly label: string;
  readonly value: string;
}

/** Strings that exist nowhere else, and real secrets of the deployment beside them. */
export interface Canaries {
  /** A new string; what it is for says where it was put. */
  plant(label: string): string;
  /** A value that the server made, or one that had to have a certain form. */
  know(label: string, value: string): string;
  all(): readonly Canary[];
  /** The labels of those that are in there, in whatever form. */
  foundIn(bytes: Buffer): string[];
}

/** Shorter ones could stand somewhere by chance. */
const CHARACTERS_MIN = 12;

export function createCanaries(): Canaries {
  // All planted strings begin alike, so that a place is searched once for all of them.
  const marker = `cnry${randomBytes(8).toString('hex')}`;
  const planted: Canary[] = [];
  const known: Canary[] = [];
  return {
    plant(label) {
      const value = `${marker}${String(planted.length).padStart(3, '0')}${randomBytes(8).toString('hex')}`;
      planted.push({ label, value });
      return value;
    },
    know(label, value) {
      if (value.length < CHARACTERS_MIN) throw new RangeError(`${label} is too short to be looked for`);
      known.push({ label, value });
      return value;
    },
    all: () => [...planted, ...known],
    foundIn(bytes) {
      const found = known.filter(({ value }) => contains(bytes, value)).map(({ label }) => label);
      if (!contains(bytes, marker)) return found;
      const named = planted.filter(({ value }) => contains(bytes, value)).map(({ label }) => label);
      return [...found, ...(named.length > 0 ? named : ['a part of something planted'])];
    },
  };
}

function contains(bytes: Buffer, value: string): boolean {
  return formsOf(value).some((form) => bytes.includes(form, 0, 'latin1'));
}

const forms = new Map<string, readonly string[]>();

/** As it is, as JSON and URLs write it, in hexadecimal, and in both alphabets of base64. */
function formsOf(value: string): readonly string[] {
  const known = forms.get(value);
  if (known !== undefined) return known;
  const bytes = Buffer.from(value);
  const made = new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    bytes.toString('hex'),
    ...base64Forms(bytes, 'base64'),
    ...base64Forms(bytes, 'base64url'),
  ]);
  forms.set(value, [...made]);
  return [...made];
}

/** Inside something longer it looks different by where it begins; of each the part that depends on nothing around it. */
function base64Forms(bytes: Buffer, alphabet: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString(alphabet)
      .replace(/=+$/, '');
    const from = Math.ceil((before * 8) / 6);
    return text.slice(from, Math.floor(((before + bytes.length) * 8) / 6));
  });
}
