import pg from 'pg';

const INT8_OID = 20;
const INT8_ARRAY_OID = 1016;

/** Parses values as the driver does, except that a bigint becomes a number. */
export function typeParserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (format === 'binary') return pg.types.getTypeParser(oid, format);
  const known = pg.types.getTypeParser(oid, 'text');
  if (oid === INT8_OID) return parseSafeInteger;
  if (oid === INT8_ARRAY_OID) return (value) => known(value).map(parseSafeInteger);
  return known;
}

/** One value beyond what a number has exactly must not make every list that contains it unreadable. */
function parseSafeInteger(value: string): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}
