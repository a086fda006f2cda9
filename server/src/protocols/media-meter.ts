import { decodeName, type MediaCounts, type MediaMeter } from '../kit/json-members.ts';

/** Where a protocol has images and files. */
export interface MediaRules {
  /**
   * By the name of a nested member. `image`: a data URL, or an object with one. `file`: a data URL. `remote`: names a file that the
   * provider stores or fetches. `source`: an object that says in its `type` what its `data` is. `audio`: an object with base64 as its `data`.
   */
  readonly kinds: ReadonlyMap<string, MediaKind>;
  /** Nested members with JSON that the model reads as text: nothing inside is an image, whatever its name. */
  readonly plain: ReadonlySet<string>;
  /** A string that stands for content which the provider stores; null where there is none. */
  readonly reference: string | null;
  /** By length: 1 for those that a name which matters has. */
  readonly nameLengths: Uint8Array;
}

export function mediaRules(
  kinds: Readonly<Record<string, MediaKind>>,
  plain: readonly string[],
  reference: string | null = null,
): MediaRules {
  const nameLengths = new Uint8Array(NAME_BYTES_MAX);
  const names = [...Object.keys(kinds), ...plain, ...IMAGE_MEMBERS.keys(), ...SOURCE_MEMBERS.keys()];
  for (const { length } of names) nameLengths[length] = 1;
  return { kinds: new Map(Object.entries(kinds)), plain: new Set(plain), reference, nameLengths };
}

export type MediaKind = 'image' | 'file' | 'remote' | 'source' | 'audio';
type Place = MediaKind | 'url' | 'type' | 'media_type' | 'data';

const IMAGE_MEMBERS: ReadonlyMap<string, Place> = new Map([['url', 'url']]);
const SOURCE_MEMBERS: ReadonlyMap<string, Place> = new Map([
  ['type', 'type'],
  ['media_type', 'media_type'],
  ['data', 'data'],
]);
const BACKSLASH = 0x5c;
/** No name that matters is longer, even if every character of it is escaped. */
const NAME_BYTES_MAX = 6 * 24;
const HEAD_BYTES = 256;
const BASE64 = /^[\w+/-]*={0,2}$/;
const BASE64_URL = /^data:[^,]{0,200};base64,/;

/** What one `source` says of itself. A repeated member may be read either way, so every value counts. */
interface Source {
  dataBytes: number;
  isBase64: boolean;
  isText: boolean;
  isRemote: boolean;
  isImage: boolean;
  isFile: boolean;
}

/**
 * Base64 is not text, but only where the provider reads it as an image or a file: the same bytes in a prompt, in a tool's
 * definition or in its arguments are text, and counting them as an image would be a discount that a client can give itself.
 */
export function mediaMeter(bytes: Buffer, rules: MediaRules): MediaMeter {
  return new Meter(bytes, rules);
}

class Meter implements MediaMeter {
  readonly #bytes: Buffer;
  readonly #rules: MediaRules;
  #items = 0;
  #images = 0;
  #links = 0;
  #imageBytes = 0;
  #fileBytes = 0;
  #remote = 0;
  /** What the name that was read last announces, and its level. */
  #place: Place | null = null;
  #placeLevel = -1;
  /** The level of the object of an image or source, while it is open. */
  #objectLevel = -1;
  #source: Source | null = null;
  /** The level of the name whose value is plain JSON. */
  #plainLevel = -1;
  /** Data of a source in which another one begins. */
  #unplacedBytes = 0;

  constructor(bytes: Buffer, rules: MediaRules) {
    this.#bytes = bytes;
    this.#rules = rules;
  }

  reset(): void {
    this.#items = 0;
    this.#images = 0;
    this.#links = 0;
    this.#imageBytes = 0;
    this.#fileBytes = 0;
    this.#remote = 0;
    this.#place = null;
    this.#placeLevel = -1;
    this.#objectLevel = -1;
    this.#source = null;
    this.#plainLevel = -1;
    this.#unplacedBytes = 0;
  }

  counts(): MediaCounts {
    return {
      items: this.#items,
      images: this.#images,
      links: this.#links,
      imageBytes: this.#imageBytes,
      fileBytes: this.#fileBytes,
      remote: this.#remote,
    };
  }

  name(from: number, end: number, level: number): void {
    this.#place = null;
    if (this.#plainLevel >= 0 && level > this.#plainLevel) return;
    this.#plainLevel = -1;
    const name = this.#nameAt(from, end);
    if (name === null) return;
    if (this.#rules.plain.has(name)) {
      this.#plainLevel = level;
      return;
    }
    const inside = this.#source === null ? IMAGE_MEMBERS : SOURCE_MEMBERS;
    this.#place =
      (level === this.#objectLevel ? inside.get(name) : undefined) ?? this.#rules.kinds.get(name) ?? null;
    this.#placeLevel = level;
    if (this.#place === 'image' || this.#place === 'file') this.#items += 1;
    if (this.#place === 'remote') this.#remote += 1;
  }

  open(level: number, isObject: boolean): void {
    const place = this.#placeLevel === level - 1 ? this.#place : null;
    this.#place = null;
    if (!isObject || (place !== 'image' && place !== 'source' && place !== 'audio')) return;
    this.#unplacedBytes += this.#source?.dataBytes ?? 0;
    this.#objectLevel = level;
    const isAudio = place === 'audio';
    this.#source =
      place === 'image'
        ? null
        : {
            dataBytes: 0,
            isBase64: isAudio,
            isText: false,
            isRemote: false,
            isImage: false,
            isFile: isAudio,
          };
  }

  takes(from: number, end: number, level: number): boolean {
    const place = this.#placeLevel === level ? this.#place : null;
    this.#place = null;
    if (this.#isReference(from, end)) this.#remote += 1;
    if (place === null || (this.#plainLevel >= 0 && level >= this.#plainLevel)) return false;
    const textBytes = end - from - 2;
    switch (place) {
      case 'image':
      case 'url': {
        const isImage = this.#head(from, end).startsWith('data:image/');
        if (isImage) {
          this.#images += 1;
          this.#imageBytes += textBytes;
        } else this.#links += 1;
        return isImage;
      }
      case 'file': {
        const isFile = BASE64_URL.test(this.#head(from, end));
        if (isFile) this.#fileBytes += textBytes;
        return isFile;
      }
      default:
        return this.#source !== null && this.#takesOfSource(this.#source, place, from, end);
    }
  }

  close(level: number): number {
    if (level !== this.#objectLevel) return 0;
    const source = this.#source;
    this.#objectLevel = -1;
    this.#source = null;
    if (source === null) return 0;
    const textBytes = this.#unplacedBytes;
    this.#unplacedBytes = 0;
    if (source.isRemote) this.#remote += 1;
    if (!source.isBase64 || source.isText || source.isRemote) return textBytes + source.dataBytes;
    this.#items += 1;
    if (source.isImage && !source.isFile) {
      this.#images += 1;
      this.#imageBytes += source.dataBytes;
    } else this.#fileBytes += source.dataBytes;
    return textBytes;
  }

  #takesOfSource(source: Source, place: Place, from: number, end: number): boolean {
    const value = this.#head(from, end);
    if (place === 'type') {
      if (value === 'base64') source.isBase64 = true;
      else if (value === 'text' || value === 'content') source.isText = true;
      else source.isRemote = true;
    } else if (place === 'media_type') {
      if (value.startsWith('image/')) source.isImage = true;
      else source.isFile = true;
    } else if (place === 'data' && this.#looksLikeBase64(from, end)) {
      source.dataBytes += end - from - 2;
      return true;
    }
    return false;
  }

  #head(from: number, end: number): string {
    return this.#bytes.toString('latin1', from + 1, Math.min(end - 1, from + 1 + HEAD_BYTES));
  }

  /** Judged by its beginning and its end: text has spaces or punctuation in that many characters. */
  #looksLikeBase64(from: number, end: number): boolean {
    const last = this.#bytes.toString('latin1', Math.max(from + 1, end - 1 - HEAD_BYTES), end - 1);
    return BASE64.test(this.#head(from, end).replace(/=+$/, '') + last);
  }

  #isReference(from: number, end: number): boolean {
    const { reference } = this.#rules;
    return reference !== null && end - from - 2 === reference.length && this.#head(from, end) === reference;
  }

  /** Null for one that cannot matter. A parser resolves escapes, so `im\u0061ge_url` is `image_url`. */
  #nameAt(from: number, end: number): string | null {
    const bytes = this.#bytes;
    if (end - from > NAME_BYTES_MAX) return null;
    for (let at = from + 1; at < end - 1; at += 1)
      if (bytes[at] === BACKSLASH) return decodeName(bytes, from, end);
    return this.#rules.nameLengths[end - from - 2] === 1 ? bytes.toString('latin1', from + 1, end - 1) : null;
  }
}
