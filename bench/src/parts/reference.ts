import { streamFrames } from '../canned-answers.ts';
import { bigBody } from '../request-bodies.ts';
import type { Part } from './part.ts';

const BYTES = 128 * 1_024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FRAME_ROUNDS = 4;

/**
 * Fixed work of the parts' kind, so that what slows the machine slows both: bytes one by one with branches, and short texts from bytes, searched
 * and joined. A change here changes every committed figure.
 */
export function createReference(): Part {
  const body = bigBody('reference').subarray(0, BYTES);
  const frames = streamFrames(true);
  return {
    warmUps: 200,
    run() {
      if (countStrings(body) === 0 || countCharacters(frames) === 0) throw new Error('nothing was read');
    },
  };
}

function countStrings(body: Buffer): number {
  let [strings, others, isInString] = [0, 0, false];
  for (let at = 0; at < body.length; at += 1) {
    const code = body[at];
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) {
      isInString = true;
      strings += 1;
    } else others += 1;
  }
  return strings + others;
}

function countCharacters(frames: readonly Buffer[]): number {
  let characters = 0;
  for (let round = 0; round < FRAME_ROUNDS; round += 1) {
    for (const frame of frames) {
      const text = frame.toString('latin1');
      if (/"usage":\{|\[DONE\]/.test(text)) characters += 1;
      characters += `${frame.length.toString(16)}\r\n${text.slice(0, text.indexOf('\n'))}\r\n`.length;
    }
  }
  return characters;
}
