export const SLOTS = 16_384;

/** CRC-16/XMODEM, which a cluster uses to assign keys to slots. */
const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The slot of a key. Only the text between the first `{` and the next `}` counts, if there is any. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) ^ (CRC16[(crc >> 8) ^ byte] ?? 0)) & 0xffff;
  return crc % SLOTS;
}
