import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { parseJson, readStdin } from './read-input.ts';

describe('parseJson', () => {
  const faults: readonly (readonly [text: string, place: string, what: string])[] = [
    ['{"a":1,}', '1:8', 'unexpected "}"'],
    ['{\n  "a": tru }', '2:11', 'unexpected " "'],
    ['{\n  "name": "x",\n  "enabled": yes,\n  "more": "of the same"\n}', '3:14', 'unexpected "y"'],
    ['{a:1}', '1:2', 'unexpected "a"'],
    ["{'a':1}", '1:2', 'unexpected "\'"'],
    ['{"a":1} x', '1:9', 'unexpected "x"'],
    ['{"a":"b', '1:8', 'the text ends too early'],
    ['[1,\n2', '2:2', 'the text ends too early'],
    ['', '1:1', 'the text ends too early'],
  ];
  for (const [text, place, what] of faults) {
    it(`reports line and column of the error in ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseJson(text, 'body.json'), {
        message: `body.json:${place} is not valid JSON: ${what}.`,
      });
    });
  }

  it('parses valid JSON', () => {
    assert.deepEqual(parseJson('{"a":[1,"é"]}', 'x'), { a: [1, 'é'] });
  });
});

describe('standard input', () => {
  const stdinOf = (...chunks: Buffer[]) => ({ stdin: Readable.from(chunks) as NodeJS.ReadStream });

  it('is read as a whole, and refused past 20 MiB', async () => {
    assert.equal(await readStdin(stdinOf(Buffer.from('a'), Buffer.from('é'))), 'aé');
    const much = Buffer.alloc(11 * 1024 * 1024);
    await assert.rejects(readStdin(stdinOf(much, much)), /larger than 20 MiB/);
  });
});
