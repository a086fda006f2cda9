import { countWords, dollarWords, durationWords } from '@relay/contract/words';

/** Values formatted for tables. Machine formats keep the server's values. */
export type Cell = string | number | boolean | null | undefined;

/** Removes control characters, so that server data cannot move the cursor, change colors or hide lines. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to take out.
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ');
}

export function cellText(value: Cell): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return plain(String(value));
}

/** `2026-01-31 12:00:00 UTC`. */
export function timeText(timestamp: string | null | undefined): string {
  return timestamp ? `${timestamp.slice(0, 19).replace('T', ' ')} UTC` : '-';
}

/** `in 8 h 39 min`. */
export function untilText(timestamp: string | null | undefined, nowMs: number): string {
  if (!timestamp) return '-';
  const leftMs = Date.parse(timestamp) - nowMs;
  return leftMs > 0 ? `in ${durationWords(leftMs, Math.ceil)}` : 'now';
}

export function dollars(micros: number | null | undefined): string {
  if (micros === null || micros === undefined) return '-';
  return dollarWords(micros);
}

export function milliseconds(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '-' : durationWords(ms);
}

/** `12,480`. */
export function numberText(amount: number | null | undefined): string {
  return amount === null || amount === undefined ? '-' : countWords(amount);
}

export { counted as count } from '@relay/contract/words';

/** The width of a text on a terminal: wide characters and emoji take two columns, combining marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = widthOf(segment);
    if (used + next > width - 1) break;
    kept += segment;
    used += next;
  }
  return `${kept}…`;
}
