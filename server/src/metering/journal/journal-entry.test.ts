import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type JournalEntry, lineOf, linesToDeliver, readLines } from './journal-entry.ts';

const text = fc.string({ unit: 'binary', maxLength: 60 });
const id = fc.constantFrom('a', 'b', 'c', 'd');
const plain = { noNullPrototype: true } as const;
const use = fc.record({ dispatched: fc.boolean(), tokens: fc.nat(), spendMicros: fc.nat() }, plain);
const entry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('draft' as const),
      organizationId: text,
      operationId: id,
      candidate: fc.nat(20),
      draft: text,
    },
    plain,
  ),
  fc.record(
    {
      kind: fc.constant('settlement' as const),
      organizationId: text,
      operationId: id,
      actual: use,
      earlier: fc.array(use, { minLength: 1, maxLength: 3 }),
      record: text,
    },
    { ...plain, requiredKeys: ['kind', 'organizationId', 'operationId', 'actual', 'record'] },
  ),
  fc.record({ kind: fc.constant('record' as const), organizationId: text, record: text }, plain),
);
const entries = fc.array(entry, { maxLength: 30 });

describe('a journal file', () => {
  it('returns what was written, in order', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const { lines, unreadable } = readLines(given.map(lineOf).join(''));
        assert.deepEqual(
          lines.map((line) => line.entry),
          given,
        );
        assert.deepEqual(
          lines.map((line) => line.number),
          [...given.keys()],
        );
        assert.equal(unreadable, 0);
      }),
    );
  });

  it('cut off at any byte, returns every complete line and nothing else', () => {
    fc.assert(
      fc.property(entries, fc.nat(), (given, at) => {
        const bytes = Buffer.from(given.map(lineOf).join(''));
        const cut = bytes.subarray(0, at % (bytes.length + 1));
        const whole = cut.filter((byte) => byte === 10).length;
        const { lines, unreadable } = readLines(cut.toString('utf8'));
        assert.deepEqual(
          lines.map((line) => line.entry),
          given.slice(0, whole),
        );
        assert.equal(unreadable, 0);
      }),
    );
  });

  it('with garbage between its lines, returns the lines and counts the garbage', () => {
    const rubbish = fc
      .string({ unit: 'binary', maxLength: 20 })
      .map((noise) => `${noise.replaceAll('\n', ' ')}\n`)
      .filter((noise) => readLines(noise).unreadable === 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(entry, fc.option(rubbish))), (given) => {
        const { lines, unreadable } = readLines(
          given.map(([each, noise]) => (noise ?? '') + lineOf(each)).join(''),
        );
        assert.deepEqual(
          lines.map((line) => line.entry),
          given.map(([each]) => each),
        );
        assert.equal(unreadable, given.filter(([, noise]) => noise !== null).length);
      }),
    );
  });

  it('no value that is not an entry is taken for one', () => {
    for (const line of [
      '',
      '{}',
      '[]',
      'null',
      '["r"]',
      '["d","o","i","0","x"]',
      '["s","o","i",1,2,3,"x"]',
      '["q","o","x"]',
    ])
      assert.deepEqual(readLines(`${line}\n`), { lines: [], unreadable: 1 }, line);
  });
});

describe('what is delivered from the file of a dead process', () => {
  it('everything but drafts that have their end, and of several drafts of a request the last, however often lines repeat', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const { lines } = readLines(given.map(lineOf).join(''));
        const brought = linesToDeliver(lines).map((line) => line.entry);
        assert.deepEqual(
          brought.filter(({ kind }) => kind !== 'draft'),
          given.filter(({ kind }) => kind !== 'draft'),
        );
        const settled = new Set(
          given.flatMap((each) => (each.kind === 'settlement' ? [each.operationId] : [])),
        );
        const drafts = new Map(
          given.flatMap((each) => (each.kind === 'draft' ? [[each.operationId, each]] : [])),
        );
        const lost = [...drafts]
          .filter(([operationId]) => !settled.has(operationId))
          .map(([, draft]) => draft);
        assert.deepEqual(new Set(brought.filter(({ kind }) => kind === 'draft')), new Set(lost));
      }),
    );
  });
});
