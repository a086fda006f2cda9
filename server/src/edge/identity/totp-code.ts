import { createHmac } from 'node:crypto';
import { isSameText } from './session-secrets.ts';

const STEP_MS = 30_000;
const DIGITS = 6;
/** Clocks of phones are seldom exact; one step on either side is what authenticators expect. */
const STEPS_AROUND = 1;

/**
 * The time step that a code of RFC 6238 belongs to, as seen from now; null when it belongs to none nearby. The step
 * is what makes a code good for one use: whoever has accepted it accepts only later ones.
 */
export function stepOfCode(secret: string, code: string, nowMs: number): number | null {
  const current = Math.floor(nowMs / STEP_MS);
  let found: number | null = null;
  for (let step = current - STEPS_AROUND; step <= current + STEPS_AROUND; step += 1) {
    // Every step is tried, so that the time taken does not tell which one it was.
    if (isSameText(codeOfStep(secret, step), code)) found = step;
  }
  return found;
}

function codeOfStep(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const value = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS;
  return String(value).padStart(DIGITS, '0');
}
