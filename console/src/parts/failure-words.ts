import { errors, isErrorCode } from '@relay/contract/errors';
import { text } from '../text/index.ts';

const words = text.failures;
const causes: Readonly<Record<string, string>> = words.causes;
const fixes: Readonly<Record<string, string>> = words.fixes;
const PROVIDER_STATUS = /^upstream_status_(\d{3})$/;

/** Why a request failed, in a few words; an unknown code is shown as it is. */
export function causeOf(code: string): string {
  const status = PROVIDER_STATUS.exec(code)?.[1];
  return status === undefined ? (causes[code] ?? code) : words.providerReturned(status);
}

interface Advice {
  readonly why: string;
  readonly fix: string;
}

/** Why requests fail with a code and what to do about it at the console; null for an unknown code. */
export function adviceOf(code: string): Advice | null {
  if (!isErrorCode(code)) return providerAdvice(code);
  const { why, fix } = errors[code];
  return { why, fix: fixes[code] ?? fix };
}

/** What a provider's status means and what to do about it; null for the codes of Relay's own errors. */
export function providerAdvice(code: string): Advice | null {
  const status = Number(PROVIDER_STATUS.exec(code)?.[1] ?? 0);
  if (status === 0) return null;
  if (status === 404) return words.provider.missing;
  if (status === 429) return words.provider.limited;
  return status < 500 ? words.provider.invalid : words.provider.failed;
}
