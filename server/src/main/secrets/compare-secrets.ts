import type { LiveProcess } from '../../store/secrets/live-processes.ts';
import type { SecretCheck } from '../../store/secrets/secret-checks.ts';
import type { OwnSecret, SharedName } from './own-secrets.ts';

const PAGE = 'docs/operate/rotation.md';

/** What is wrong with this process's secrets beside the deployment's; null when it accepts every value in use. */
export function secretFault(own: readonly OwnSecret[], checks: readonly SecretCheck[]): string | null {
  const faults = own.flatMap((secret) =>
    faultsOf(
      secret,
      checks.filter(({ name }) => name === secret.name),
    ),
  );
  return faults.length === 0 ? null : faults.join('\n');
}

function faultsOf({ name, ids, isNeeded }: OwnSecret, checks: readonly SecretCheck[]): string[] {
  const missing = checks.filter(({ checkId }) => !ids.includes(checkId));
  if (missing.length === 0) return [];
  if (ids.length === 0)
    return isNeeded
      ? [`${name} is not set, and this deployment uses one. Set its value, the same in every process.`]
      : [];
  // The process has the value in use, so it is of this deployment and only lacks an earlier one.
  if (!missing.some(({ isActive }) => isActive))
    return [
      `${name}_PREVIOUS lacks an earlier value of ${name} that is still needed. List it, or run \`relay rotate-key finish\` first.`,
    ];
  return [
    `${name} is not the one that this deployment uses. Set the same value in every process. To replace it, keep the old value in ${name}_PREVIOUS and follow ${PAGE}.`,
  ];
}

/** The value of each secret that the deployment uses, by check ID. */
export function activeIds(checks: readonly SecretCheck[]): ReadonlyMap<string, string> {
  return new Map(checks.filter(({ isActive }) => isActive).map(({ name, checkId }) => [name, checkId]));
}

export const SIGNING_KEY = 'RELAY_CONTEXT_SIGNING_KEY';
export const VERIFY_KEYS = 'RELAY_CONTEXT_VERIFY_KEYS';

/** Whether inference can verify what platforms sign, of those that run now. Platforms sign with one key, inference verifies several. */
export function contextFault(own: LiveProcess, others: readonly LiveProcess[]): string | null {
  const signsWith = own.secrets[SIGNING_KEY]?.uses;
  const verifies = own.secrets[VERIFY_KEYS]?.accepts;
  for (const other of others) {
    const verifiedThere = other.secrets[VERIFY_KEYS]?.accepts;
    if (signsWith && verifiedThere !== undefined && !verifiedThere.includes(signsWith))
      return `${SIGNING_KEY} is a key that ${nameOf(other)} does not accept. List its public key in ${VERIFY_KEYS} of every inference process first (${PAGE}).`;
    const signedThere = other.secrets[SIGNING_KEY]?.uses;
    if (verifies !== undefined && signedThere && !verifies.includes(signedThere))
      return `${VERIFY_KEYS} lacks the key with which ${nameOf(other)} signs. List it until no platform signs with it (${PAGE}).`;
  }
  return null;
}

/** Running processes that do not accept this value. */
export function withoutValue(
  processes: readonly LiveProcess[],
  name: SharedName,
  checkId: string,
): readonly LiveProcess[] {
  return processes.filter(
    ({ secrets }) => secrets[name] !== undefined && !secrets[name].accepts.includes(checkId),
  );
}

export function nameOf({ role, host, id }: Pick<LiveProcess, 'role' | 'host' | 'id'>): string {
  return `the ${role === 'all' ? 'server' : role} process ${id.slice(0, id.indexOf('-'))} on ${host}`;
}
