import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { indexedFrame, verifyFrames } from './indexed-frames.ts';

const framesOf = (total: number, bytes: number): string[] =>
  Array.from({ length: total }, (_, index) => indexedFrame('t', index, total, bytes));

const totals = fc.integer({ min: 2, max: 60 });
const sizes = fc.integer({ min: 40, max: 300 });
const places = fc.nat();

describe('indexed frames prove what happened to them', () => {
  it('untouched frames pass and have the size asked for', () => {
    fc.assert(
      fc.property(totals, sizes, (total, bytes) => {
        const frames = framesOf(total, bytes);
        for (const frame of frames) assert.equal(Buffer.byteLength(frame), bytes);
        assert.equal(verifyFrames(frames.join(''), { frames: total, tag: 't' }).ok, true);
      }),
    );
  });

  it('a lost, repeated or swapped frame is named', () => {
    fc.assert(
      fc.property(totals, places, (total, place) => {
        const at = place % total;
        const frames = framesOf(total, 60);
        const one = frames[at] ?? '';
        assert.deepEqual(verifyFrames(frames.toSpliced(at, 1).join('')).lost, [at]);
        assert.deepEqual(verifyFrames(frames.toSpliced(at, 0, one).join('')).repeated, [at]);
        const swapped = frames.toSpliced(at, 1);
        swapped.splice((at + 1) % total, 0, one);
        const report = verifyFrames(swapped.join(''));
        assert.equal(report.ok, false);
        assert.ok(report.reordered.length > 0);
      }),
    );
  });

  it('any change of one character fails', () => {
    fc.assert(
      fc.property(totals, places, fc.constantFrom('Z', '7', ' ', 'é'), (total, place, letter) => {
        const text = framesOf(total, 60).join('');
        const at = place % text.length;
        fc.pre(text[at] !== letter);
        const changed = text.slice(0, at) + letter + text.slice(at + 1);
        assert.equal(verifyFrames(changed, { frames: total, tag: 't' }).ok, false);
      }),
    );
  });

  it('a frame of another stream fails', () => {
    const mixed = framesOf(3, 60)
      .toSpliced(1, 0, indexedFrame('other', 1, 3, 60))
      .join('');
    assert.equal(verifyFrames(mixed).ok, false);
    assert.equal(verifyFrames(framesOf(3, 60).join(''), { tag: 'other' }).ok, false);
    assert.equal(verifyFrames('').ok, false);
  });
});
