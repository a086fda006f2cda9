import { randomUUIDv7 } from 'node:crypto';

/** The largest time a UUIDv7 can carry. */
const UUID_MS_MAX = 2 ** 48 - 1;

/** When a UUIDv7 was made: its first 48 bits are the time in milliseconds. */
export function uuidTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** A new UUIDv7 of this moment, which need not be that of the process's own clock. */
export function uuidAt(timeMs: number): string {
  return movedUuid(randomUUIDv7(), timeMs);
}

/** The same id at another moment. */
export function movedUuid(id: string, timeMs: number): string {
  return smallestUuidAt(timeMs).slice(0, 14) + id.slice(14);
}

/** No UUIDv7 that is made at this moment or later is smaller. */
export function smallestUuidAt(timeMs: number): string {
  if (timeMs < 0 || timeMs > UUID_MS_MAX) throw new RangeError(`${timeMs} ms is outside the range of UUIDv7`);
  const hex = timeMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
