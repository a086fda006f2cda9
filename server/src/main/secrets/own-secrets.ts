import { createHmac, type KeyObject } from 'node:crypto';
import type { RotatingSealer } from '../../kit/seal.ts';
import { keyPepperFrom, sessionSecretFrom } from '../auth-secrets.ts';
import type { Environment } from '../environment.ts';
import { type RoleName, roles } from '../roles.ts';

/** The secrets that all processes of a deployment share, by environment variable. */
export const sharedNames = [
  'RELAY_MASTER_KEY',
  'RELAY_AUTH_SECRET',
  'RELAY_API_TOKEN',
  'RELAY_ADMIN_TOKEN',
] as const;
export type SharedName = (typeof sharedNames)[number];

/** A secret as this process has it. */
export interface OwnSecret {
  readonly name: SharedName;
  /** Check IDs of all accepted values; the first one is the operator's newest. Empty when it is not set. */
  readonly ids: readonly string[];
  /** False where the process's role does without it. */
  readonly isNeeded: boolean;
}

/** The secrets of this process, and which of their values are in use. */
export interface OwnSecrets {
  readonly sealer: RotatingSealer;
  /** Under which digests of API keys are stored. */
  readonly keyPeppers: { readonly current: KeyObject; readonly accepted: readonly KeyObject[] };
  /** They sign browser sessions and seal second factors. */
  readonly session: { readonly current: KeyObject; readonly accepted: readonly KeyObject[] };
  withCheckKey(checkKey: Buffer): readonly OwnSecret[];
  /** Uses these values from now on, by check ID. A name without one has no recorded value yet. */
  use(active: ReadonlyMap<string, string>, own: readonly OwnSecret[]): void;
  noteEarlierUse(name: SharedName): void;
  earlierUsedAtMs(name: SharedName): number | null;
}

export interface OwnSecretsOptions {
  readonly environment: Environment;
  readonly roleName: RoleName;
  readonly sealer: RotatingSealer;
  readonly nowMs: () => number;
  /** `relay start`: the secret of the data directory, in whose place the environment may have another one. */
  readonly keptAuthSecret: string | null;
  /** One process has no one to share tokens with. */
  readonly isEmbedded: boolean;
}

export function createOwnSecrets(options: OwnSecretsOptions): OwnSecrets {
  const { environment, sealer } = options;
  const values = valuesFrom(options);
  const masterKeys = [environment.RELAY_MASTER_KEY, ...environment.RELAY_MASTER_KEY_PREVIOUS];
  const peppers = {
    ofAuth: values.RELAY_AUTH_SECRET.map(keyPepperFrom),
    ofMaster: masterKeys.map(keyPepperFrom),
  };
  // Without accounts, only the admin token opens sessions, so it may also sign them.
  const hasAuthSecret = values.RELAY_AUTH_SECRET.length > 0;
  const sessionName = hasAuthSecret ? 'RELAY_AUTH_SECRET' : 'RELAY_ADMIN_TOKEN';
  const sessionSecrets = (values[sessionName].length === 0 ? [''] : values[sessionName]).map(
    sessionSecretFrom,
  );
  const earlierUses = new Map<SharedName, number>();
  const currentPepper = peppers.ofAuth[0] ?? peppers.ofMaster[0];
  const currentSession = sessionSecrets[0];
  if (currentPepper === undefined || currentSession === undefined) throw new Error('there is no master key');
  let [pepper, session] = [currentPepper, currentSession];

  return {
    sealer,
    keyPeppers: {
      get current() {
        return pepper;
      },
      accepted: [...peppers.ofAuth, ...peppers.ofMaster],
    },
    session: {
      get current() {
        return session;
      },
      accepted: sessionSecrets,
    },
    withCheckKey: (checkKey) =>
      sharedNames
        .map((name) => ({
          name,
          ids:
            name === 'RELAY_MASTER_KEY'
              ? sealer.keyIds
              : values[name].map((value) => checkIdOf(checkKey, name, value)),
          isNeeded: isNeeded(name, options),
        }))
        .filter(({ name }) => !(options.isEmbedded && name.endsWith('_TOKEN'))),
    use(active, own) {
      const indexOf = (name: SharedName) => {
        const id = active.get(name);
        return id === undefined ? -1 : (own.find((each) => each.name === name)?.ids.indexOf(id) ?? -1);
      };
      const master = indexOf('RELAY_MASTER_KEY');
      if (master >= 0) sealer.use(sealer.keyIds[master] ?? sealer.keyId);
      // Other processes may not have the secret before it is recorded.
      pepper =
        peppers.ofAuth[indexOf('RELAY_AUTH_SECRET')] ?? peppers.ofMaster[Math.max(0, master)] ?? pepper;
      session = sessionSecrets[Math.max(0, indexOf(sessionName))] ?? session;
    },
    noteEarlierUse: (name) => void earlierUses.set(name, options.nowMs()),
    earlierUsedAtMs: (name) => earlierUses.get(name) ?? null,
  };
}

function valuesFrom({ environment, keptAuthSecret }: OwnSecretsOptions) {
  const listed = (first: string | null, earlier: readonly string[]) =>
    first === null ? [] : [...new Set([first, ...earlier])];
  const kept = keptAuthSecret === null ? [] : [keptAuthSecret];
  return {
    RELAY_AUTH_SECRET: listed(environment.RELAY_AUTH_SECRET, [
      ...environment.RELAY_AUTH_SECRET_PREVIOUS,
      ...kept,
    ]),
    RELAY_API_TOKEN: listed(environment.RELAY_API_TOKEN, environment.RELAY_API_TOKEN_PREVIOUS),
    RELAY_ADMIN_TOKEN: listed(environment.RELAY_ADMIN_TOKEN, environment.RELAY_ADMIN_TOKEN_PREVIOUS),
  };
}

/** Keyed with a random key, so that a stored ID does not tell whether a guess is right. */
function checkIdOf(checkKey: Buffer, name: string, value: string): string {
  return createHmac('sha256', checkKey).update(`${name}\0${value}`).digest('hex');
}

function isNeeded(name: SharedName, { environment, roleName }: OwnSecretsOptions): boolean {
  if (name === 'RELAY_MASTER_KEY') return true;
  const isHosted = environment.RELAY_MODE === 'hosted';
  if (name !== 'RELAY_AUTH_SECRET') return !isHosted;
  const { management, inference } = roles[roleName];
  // Behind a platform, inference sees no API keys.
  return management || (inference && !isHosted);
}
