// Bodies that are not one JSON object, or only nearly.

const whole = '{"model":"bounds-lane","messages":[{"role":"user","content":"Hello."}]}';

/** What they are, and their bytes. */
export const malformedBodies: readonly [string, string | Buffer][] = [
  ['ten million brackets', '['.repeat(10_000_000)],
  ['ten million brackets in a field', `{"model":"bounds-lane","messages":${'['.repeat(10_000_000)}`],
  ['nothing', ''],
  ['only spaces', '   '],
  ['NULs', Buffer.alloc(1_000)],
  ['a NUL behind the object', `${whole}\0`],
  ['a NUL inside a string', '{"model":"bounds-lane\0","messages":[{"role":"user","content":"x"}]}'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['a byte order mark', `\ufeff${whole}`],
  ['UTF-16', Buffer.from(whole, 'utf16le')],
  ['an array', '[1]'],
  ['half an object', '{"model":"bounds-lane","messages":[{"role"'],
  ['two objects', whole.repeat(2)],
  ['a lone quote', '"'],
  [
    'broken stream options in a large body',
    `{"model":"bounds-lane","stream":true,"stream_options":{"a":"${'\\x'.repeat(3_000)}"},"messages":[{"role":"user","content":"${'x'.repeat(100_000)}"}]}`,
  ],
  ['a megabyte of backslashes', `{"model":"bounds-lane","a":"${'\\'.repeat(1024 * 1024)}`],
];
