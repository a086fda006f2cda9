import type { JsonObject } from '../../kit/json-value.ts';

const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
/** What clients also call a JPEG. */
const JPEG = 'image/jpg';
const DATA_URL = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i;

interface Data {
  readonly mediaType: string;
  readonly data: string;
}

/** Where Messages find an image; null when they cannot have it. */
export function imageSource(url: string): JsonObject | null {
  const found = dataOf(url);
  if (found === null) return /^https?:/i.test(url) ? { type: 'url', url } : null;
  const { mediaType, data } = found;
  return IMAGE_TYPES.includes(mediaType) ? { type: 'base64', media_type: mediaType, data } : null;
}

/** Where Messages find a document, given as a data URL; null when they cannot have it. */
export function documentSource(url: string): JsonObject | null {
  const found = dataOf(url);
  if (found === null) return null;
  const { mediaType, data } = found;
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data };
  if (mediaType !== 'text/plain') return null;
  return { type: 'text', media_type: mediaType, data: Buffer.from(data, 'base64').toString('utf8') };
}

function dataOf(url: string): Data | null {
  const [start, mediaType] = DATA_URL.exec(url) ?? [];
  if (start === undefined || mediaType === undefined) return null;
  const given = mediaType.toLowerCase();
  return { mediaType: given === JPEG ? 'image/jpeg' : given, data: url.slice(start.length) };
}
