import { createWindowCounters } from '../../store/redis/window-counters.ts';
import { type AccountLine, createAccountLine } from './account-line.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { type Background, createBackground } from './background.ts';
import type { IdentityDeps } from './deps.ts';
import { createLibraryLoader, type Library } from './library.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createSecondFactor, type SecondFactor } from './second-factor.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** A session lasts one week from sign-in, regardless of use. */
export const SESSION_MS = 7 * 86_400_000;

/** The dependencies of the identity routes. */
export interface Parts {
  readonly deps: IdentityDeps;
  readonly library: () => Promise<Library>;
  readonly attempts: Attempts;
  readonly line: AccountLine;
  readonly background: Background;
  readonly passwords: Passwords;
  readonly secondFactor: SecondFactor;
  readonly sessions: Sessions;
}

export function createParts(deps: IdentityDeps): Parts {
  const library = createLibraryLoader({ ...deps, sessionMs: SESSION_MS });
  const passwords = createPasswords({ db: deps.db, library });
  return {
    deps,
    library,
    attempts: createAttempts({ counters: createWindowCounters(deps), secrets: deps.secrets }),
    line: createAccountLine(deps),
    background: createBackground(deps),
    passwords,
    secondFactor: createSecondFactor({ db: deps.db, clock: deps.clock, library, passwords }),
    sessions: createSessions(deps),
  };
}
