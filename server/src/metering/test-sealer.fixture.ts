import { randomBytes } from 'node:crypto';
import { createSealer } from '../kit/seal.ts';

/** For tests: seals what refused records said. */
export const testSealer = createSealer({ primary: randomBytes(32) });
