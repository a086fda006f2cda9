import { plainEmail } from './people.ts';
import { isSameText, newAddressProofOf, type SessionSecrets, signUpProofOf } from './session-secrets.ts';

export const SIGN_UP_MINUTES = 60;

const TOKEN_FORM = /^([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/;

interface LinkDeps {
  readonly secrets: SessionSecrets;
  readonly publicUrl: string;
  readonly nowMs: number;
}

/**
 * A link that proves the mailbox of a new user. It is not stored: the account that it makes is what ends it. Token and
 * address are in the fragment, which browsers do not send.
 */
export function createSignUpLink({ secrets, publicUrl, nowMs }: LinkDeps, email: string): string {
  const token = tokenOf(nowMs, (expires) => signUpProofOf(secrets.current, plainEmail(email), expires));
  return `${publicUrl}/console/sign-up#${new URLSearchParams({ token, email })}`;
}

/** The same for the new address of a user. The token is of no use without their password. */
export function createNewAddressLink(
  { secrets, publicUrl, nowMs }: LinkDeps,
  userId: string,
  email: string,
): string {
  const token = tokenOf(nowMs, (expires) =>
    newAddressProofOf(secrets.current, userId, plainEmail(email), expires),
  );
  return `${publicUrl}/console/settings#${new URLSearchParams({ token, email })}`;
}

function tokenOf(nowMs: number, proofOf: (expires: string) => string): string {
  const expires = (nowMs + SIGN_UP_MINUTES * 60_000).toString(36);
  return `${expires}.${proofOf(expires)}`;
}

/** Whether the token is from a link to this address that has not expired. */
export function isOpenSignUpLink(
  { secrets, nowMs }: Omit<LinkDeps, 'publicUrl'>,
  token: string,
  email: string,
): boolean {
  return isOpen(secrets, token, nowMs, (secret, expires) =>
    signUpProofOf(secret, plainEmail(email), expires),
  );
}

/** The same for a link to the new address of a user. */
export function isOpenNewAddressLink(
  { secrets, nowMs }: Omit<LinkDeps, 'publicUrl'>,
  token: string,
  { userId, email }: { readonly userId: string; readonly email: string },
): boolean {
  return isOpen(secrets, token, nowMs, (secret, expires) =>
    newAddressProofOf(secret, userId, plainEmail(email), expires),
  );
}

type ProofOf = (secret: SessionSecrets['current'], expires: string) => string;

function isOpen(secrets: SessionSecrets, token: string, nowMs: number, proofOf: ProofOf): boolean {
  const [, expires = '', proof = ''] = TOKEN_FORM.exec(token) ?? [];
  const isProof = secrets.accepted.some((secret) => isSameText(proof, proofOf(secret, expires)));
  return isProof && Number.parseInt(expires, 36) > nowMs;
}
