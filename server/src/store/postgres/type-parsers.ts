import pg from 'pg';

const INT8_OID = 20;
const INT8_ARRAY_OID = 1016;

/** How values are read that PostgreSQL sends as text: as the driver does it, except that a bigint is a number. */
export function typeParserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  const known = pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown;
  if (format === 'binary') return known;
  if (oid === INT8_OID) return parseSafeInteger;
  if (oid === INT8_ARRAY_OID) return (value) => (known(value) as string[]).map(parseSafeInteger);
  return known;
}

function parseSafeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`bigint ${value} is not a safe integer`);
  return number;
}
