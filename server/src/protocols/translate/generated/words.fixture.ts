import fc from 'fast-check';

/** Text that occurs only once, with characters that have to be escaped or take several bytes. */
export const words = fc
  .tuple(fc.uuid(), fc.string({ unit: 'grapheme', maxLength: 12 }))
  .map(([id, more]) => `${id} ${more}`);

export const base64 = fc
  .uint8Array({ minLength: 16, maxLength: 24 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));

export const url = fc.uuid().map((id) => `https://example.com/${id}`);

/** A tool's input: no numbers that JSON cannot hold exactly. */
export const input = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,8}$/),
  fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null), fc.array(words, { maxLength: 2 })),
  { maxKeys: 3 },
);

export const schema = fc
  .tuple(fc.stringMatching(/^[a-z]{1,8}$/), words, fc.boolean())
  .map(([name, description, required]) => ({
    type: 'object',
    properties: { [name]: { type: 'string', description } },
    ...(required ? { required: [name] } : {}),
    additionalProperties: false,
  }));

export const toolName = fc.uuid().map((id) => `tool_${id}`);
/** OpenAI accepts up to 40 characters. */
export const callId = fc.uuid().map((id) => `call_${id.replaceAll('-', '')}`);

/** Present in about half of the requests. */
export function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

/** As it would arrive: members that are `undefined` are not there. */
export function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
