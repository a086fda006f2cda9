import Type, { type Static } from 'typebox';
import {
  closed,
  flag,
  Id,
  Name,
  nullable,
  oneOf,
  openQuery,
  optional,
  query,
  shownOnce,
  Timestamp,
  text,
  WriteOnlySecret,
} from '../schema.ts';
import { Org, User } from './account.ts';
import { Role } from './values.ts';

const Email = Type.String({ format: 'email', maxLength: 320 });
const Password = Type.String({ minLength: 12, maxLength: 256, writeOnly: true });
/** A password or token that the caller sends to prove who they are. */
const SentSecret = Type.String({ ...WriteOnlySecret, description: 'Never returned.' });
const TotpCode = Type.String({ minLength: 6, maxLength: 32, description: '6 digits, or a backup code.' });

/** A browser session of the console. The cookie itself is HTTP-only and never part of a body. */
export const Session = closed('Session', {
  user: User,
  org: Org,
  role: Role,
  suspended: flag({
    description:
      'Whether the user’s access to this organization is suspended. A suspended user can only read this session, switch to another organization, leave and sign out.',
  }),
  orgs: Type.Array(Org, { description: 'Every organization the user is an active member of.' }),
  has_password: flag({
    description: 'Whether the user has a password in this deployment. Security changes require one.',
  }),
  has_second_factor: flag({ description: 'Whether signing in with the password asks for a code.' }),
  csrf_token: Type.String({ description: 'Send it in the `x-csrf-token` header on every write.' }),
  expires_at: nullable(Timestamp),
});
export type Session = Static<typeof Session>;

/** The sign-in methods of this deployment, readable before sign-in. */
export const SignInMethods = closed('SignInMethods', {
  mode: oneOf(['self_hosted', 'hosted']),
  token: flag({ description: 'Whether you can sign in with the admin token.' }),
  accounts: flag({ description: 'Whether you can sign in with an email address and a password.' }),
  sso: flag({ description: 'Whether you can sign in with single sign-on.' }),
  sign_up: flag({ description: 'Whether anyone can create an organization.' }),
  sign_up_link: flag({
    description: 'Whether sign-up starts with a link that Relay sends by email.',
  }),
  password_reset: flag({ description: 'Whether Relay sends password reset links by email.' }),
});
export type SignInMethods = Static<typeof SignInMethods>;

/**
 * Either `token` (RELAY_ADMIN_TOKEN, self-hosted), or `email` and `password`; `totp_code` where it is set up. With
 * `organization_name`, a person without an active membership creates an organization (hosted).
 */
export const SessionCreate = closed('SessionCreate', {
  token: optional(SentSecret),
  email: optional(Email),
  password: optional(SentSecret),
  totp_code: optional(TotpCode),
  organization_name: optional(Name),
});
export type SessionCreate = Static<typeof SessionCreate>;

export const SessionUpdate = closed('SessionUpdate', { org_id: Id });
export type SessionUpdate = Static<typeof SessionUpdate>;

export const SignUpRequest = closed('SignUpRequest', { email: Email });
export type SignUpRequest = Static<typeof SignUpRequest>;

/** `token` is from the link to this address. Only a deployment that sends no mail makes an account without it. */
export const SignUp = closed('SignUp', {
  name: Name,
  email: Email,
  password: Password,
  organization_name: Name,
  token: optional(SentSecret),
});
export type SignUp = Static<typeof SignUp>;

/**
 * `name` and `password` create an account. People who have one send its `password`, and `totp_code` where it is set up, or accept
 * while signed in.
 */
export const InvitationAcceptance = closed('InvitationAcceptance', {
  token: SentSecret,
  name: optional(Name),
  password: optional(Password),
  totp_code: optional(TotpCode),
});
export type InvitationAcceptance = Static<typeof InvitationAcceptance>;

export const PasswordResetRequest = closed('PasswordResetRequest', { email: Email });
export type PasswordResetRequest = Static<typeof PasswordResetRequest>;

/** `token` is from the link, which works once. */
export const PasswordReset = closed('PasswordReset', { token: SentSecret, new_password: Password });
export type PasswordReset = Static<typeof PasswordReset>;

export const BrowserSession = closed('BrowserSession', {
  id: Id,
  current: flag(),
  created_at: Timestamp,
  expires_at: Timestamp,
  ip_address: nullable(Type.String()),
  user_agent: nullable(Type.String()),
});
export type BrowserSession = Static<typeof BrowserSession>;

export const PasswordChange = closed('PasswordChange', {
  current_password: SentSecret,
  new_password: Password,
});
export type PasswordChange = Static<typeof PasswordChange>;

/** With email, the address changes once the link that Relay sent to it is used. */
export const EmailChange = closed('EmailChange', {
  email: Email,
  password: SentSecret,
  token: optional(
    Type.String({
      ...WriteOnlySecret,
      description:
        'From the link that this call without it sends to the new address. Not needed if the deployment sends no email.',
    }),
  ),
});
export type EmailChange = Static<typeof EmailChange>;

export const PasswordProof = closed('PasswordProof', { password: SentSecret });
export type PasswordProof = Static<typeof PasswordProof>;

export const TotpSetup = closed('TotpSetup', {
  uri: shownOnce('An otpauth:// URI for an authenticator app. Shown once.'),
  backup_codes: Type.Array(shownOnce('Works once in place of an authenticator code. Shown once.')),
});
export type TotpSetup = Static<typeof TotpSetup>;

export const TotpConfirmation = closed('TotpConfirmation', { code: TotpCode });
export type TotpConfirmation = Static<typeof TotpConfirmation>;

export const SsoStartQuery = query({
  return_to: optional(text({ maxLength: 500, description: 'The console path to return to.' })),
});
/** The callback of an identity provider, which may add parameters. */
export const SsoCallbackQuery = openQuery({
  code: optional(text({ maxLength: 4000 })),
  state: optional(text({ maxLength: 4000 })),
  error: optional(text()),
});
