import { plainEmail } from './people.ts';
import { isSameText, type SessionSecrets, signUpProofOf } from './session-secrets.ts';

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
  const expires = (nowMs + SIGN_UP_MINUTES * 60_000).toString(36);
  const token = `${expires}.${signUpProofOf(secrets.current, plainEmail(email), expires)}`;
  return `${publicUrl}/console/sign-up#${new URLSearchParams({ token, email })}`;
}

/** Whether the token is from a link to this address that has not expired. */
export function isOpenSignUpLink(
  { secrets, nowMs }: Omit<LinkDeps, 'publicUrl'>,
  token: string,
  email: string,
): boolean {
  const [, expires = '', proof = ''] = TOKEN_FORM.exec(token) ?? [];
  const isProof = secrets.accepted.some((secret) =>
    isSameText(proof, signUpProofOf(secret, plainEmail(email), expires)),
  );
  if (!isProof) return false;
  return Number.parseInt(expires, 36) > nowMs;
}
