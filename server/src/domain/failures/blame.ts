import { isErrorCode } from '@relay/contract/errors';
import { type Blamed, remedies } from './remedies.ts';

/** Causes that the ledger has besides the codes of the registry begin so: the provider's status, or an error in its stream. */
export const OF_PROVIDER = 'upstream_';

function blamedOf(errorCode: string): Blamed {
  if (isErrorCode(errorCode)) return remedies[errorCode].blames;
  return errorCode.startsWith(OF_PROVIDER) ? 'endpoint' : 'nothing';
}

export function blamesLimit(errorCode: string): boolean {
  return blamedOf(errorCode) === 'limit';
}

export function blamesGuardrail(errorCode: string): boolean {
  return blamedOf(errorCode) === 'guardrail';
}

/** The codes of the registry that are about this; statements group by them. */
export function codesThatBlame(blamed: Blamed): readonly string[] {
  return Object.entries(remedies).flatMap(([code, { blames }]) => (blames === blamed ? [code] : []));
}
