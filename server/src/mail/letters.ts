import { composeLetter, type Letter, oneLine } from './letter.ts';

const NAME_CHARACTERS_MAX = 80;
/** Mail clients turn such words into links. */
const LINKED = /:\/\/|\bwww\.|[\p{L}\p{N}]\.\p{L}{2}/iu;

export function invitationLetter(of: {
  readonly to: string;
  readonly organization: string;
  readonly role: string;
  readonly acceptUrl: string;
  readonly expiresAt: Date;
}): Letter {
  const organization = shownName(of.organization);
  return composeLetter({
    kind: 'invitation',
    to: of.to,
    subject: `Invitation to ${organization} on Relay`,
    before: [`You're invited to join ${organization} on Relay with the role ${of.role}.`],
    link: { label: 'Accept the invitation', url: of.acceptUrl },
    after: [
      `The link works once and expires on ${timeText(of.expiresAt)}. Don't forward it: anyone who has it can join.`,
      "If you weren't expecting this invitation, ignore this message.",
    ],
  });
}

export function passwordResetLetter(of: {
  readonly to: string;
  readonly resetUrl: string;
  readonly minutes: number;
}): Letter {
  return composeLetter({
    kind: 'password_reset',
    to: of.to,
    subject: 'Reset your Relay password',
    before: [`A password reset was requested for your Relay account ${of.to}.`],
    link: { label: 'Set a new password', url: of.resetUrl },
    after: [
      `The link works once and expires in ${of.minutes} minutes. A new password ends all your sessions.`,
      "If you didn't request this, ignore this message. Your password stays the same.",
    ],
  });
}

export function signUpLetter(of: {
  readonly to: string;
  readonly signUpUrl: string;
  readonly minutes: number;
}): Letter {
  return composeLetter({
    kind: 'sign_up',
    to: of.to,
    subject: 'Finish signing up for Relay',
    before: [`A Relay account was requested for ${of.to}.`],
    link: { label: 'Create the account', url: of.signUpUrl },
    after: [
      `The link works once and expires in ${of.minutes} minutes.`,
      "If you didn't request this, ignore this message. No account will be created.",
    ],
  });
}

/** To the new address of a user, who still has the old one. */
export function newAddressLetter(of: {
  readonly to: string;
  readonly confirmUrl: string;
  readonly minutes: number;
}): Letter {
  return composeLetter({
    kind: 'sign_up',
    to: of.to,
    subject: 'Confirm your new Relay email address',
    before: [`Someone wants to sign in to Relay with ${of.to}.`],
    link: { label: 'Use this address', url: of.confirmUrl },
    after: [
      `The link expires in ${of.minutes} minutes. It asks for the password of the account.`,
      "If you didn't request this, ignore this message. Nothing will change.",
    ],
  });
}

/** To an address that has an account. The page says the same as for a new address, so only this mailbox learns it. */
export function accountExistsLetter(of: {
  readonly to: string;
  readonly signInUrl: string;
  readonly resetUrl: string;
}): Letter {
  return composeLetter({
    kind: 'sign_up',
    to: of.to,
    subject: 'You already have a Relay account',
    before: [
      `A Relay account was requested for ${of.to}, which already has one. Nothing was changed.`,
      `If this was you, sign in. If you forgot the password, reset it at ${of.resetUrl}`,
    ],
    link: { label: 'Sign in', url: of.signInUrl },
    after: ["If this wasn't you, ignore this message."],
  });
}

export function newSignInLetter(of: {
  readonly to: string;
  readonly at: Date;
  readonly address: string;
  readonly browser: string;
  readonly settingsUrl: string;
}): Letter {
  return composeLetter({
    kind: 'new_sign_in',
    to: of.to,
    subject: 'New sign-in to Relay',
    before: [
      `Your Relay account ${of.to} was used from a new IP address or browser.`,
      `Time: ${timeText(of.at)}\nIP address: ${oneLine(of.address)}\nBrowser: ${of.browser}`,
    ],
    link: { label: 'Review your sessions', url: of.settingsUrl },
    after: [
      "If this was you, ignore this message. If it wasn't, change your password; that ends all other sessions.",
    ],
  });
}

export function passwordChangedLetter(of: {
  readonly to: string;
  readonly at: Date;
  readonly resetUrl: string;
}): Letter {
  return composeLetter({
    kind: 'password_changed',
    to: of.to,
    subject: 'Your Relay password was changed',
    before: [
      `The password of your Relay account ${of.to} was changed on ${timeText(of.at)}.`,
      "If this was you, ignore this message. If it wasn't, reset your password and tell an admin of your organization.",
    ],
    link: { label: 'Reset your password', url: of.resetUrl },
    after: [],
  });
}

/** To the old address. The new one is left out: the mailbox may no longer be the user's. */
export function emailChangedLetter(of: {
  readonly to: string;
  readonly at: Date;
  readonly signInUrl: string;
}): Letter {
  return composeLetter({
    kind: 'email_changed',
    to: of.to,
    subject: 'Your Relay email address was changed',
    before: [
      `Your Relay account no longer uses the address ${of.to}. It was changed on ${timeText(of.at)}.`,
      "If this was you, ignore this message. If it wasn't, tell an admin of your organization.",
    ],
    link: { label: 'Open Relay', url: of.signInUrl },
    after: [],
  });
}

export function alertLetter(of: {
  readonly to: string;
  readonly organization: string;
  readonly headline: string;
  readonly lines: readonly string[];
  readonly alertsUrl: string;
}): Letter {
  return composeLetter({
    kind: 'alert',
    to: of.to,
    subject: `${of.headline}: ${shownName(of.organization)} on Relay`,
    before: of.lines,
    link: { label: 'Open alerts', url: of.alertsUrl },
    after: ['An admin of the organization added this address as an alert destination.'],
  });
}

/** Anyone can name an organization and invite anyone, so a name that would become a link is left out. */
export function shownName(name: string, otherwise = 'an organization'): string {
  const shown = oneLine(name);
  if (shown === '' || LINKED.test(shown)) return otherwise;
  const characters = [...shown];
  return characters.length <= NAME_CHARACTERS_MAX
    ? shown
    : `${characters.slice(0, NAME_CHARACTERS_MAX).join('')}…`;
}

const time = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

export function timeText(at: Date): string {
  return `${time.format(at)} UTC`;
}
