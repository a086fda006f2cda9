import { createHmac } from 'node:crypto';
import { isSameText } from './session-secrets.ts';

const STEP_MS = 30_000;
const DIGITS = 6;
/** Phone clocks are seldom exact; authenticator apps expect one step of tolerance on either side. */
const STEPS_AROUND = 1;

/** The time step of an RFC 6238 code near now, or null. Accepting only later steps makes each code work once. */
export function stepOfCode(secret: string, code: string, nowMs: number): number | null {
  const current = Math.floor(nowMs / STEP_MS);
  let found: number | null = null;
  for (let step = current - STEPS_AROUND; step <= current + STEPS_AROUND; step += 1) {
    // Every step is tried, so that the time reveals nothing.
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
