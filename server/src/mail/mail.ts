import type { Letter, LetterKind } from './letter.ts';
import { createOutbox, type OutboxLog } from './outbox.ts';
import type { Sender, SmtpServer } from './smtp-server.ts';
import { createSmtpTransport, type SendFailure } from './smtp-transport.ts';

const HOUR_MS = 3_600_000;

/** What one mailbox gets at most, so that no one can flood it. Each kind counts alone and cannot use up another's. */
const PER_RECIPIENT = {
  invitation: { max: 5, windowMs: 24 * HOUR_MS },
  password_reset: { max: 3, windowMs: HOUR_MS },
  sign_up: { max: 3, windowMs: HOUR_MS },
  new_sign_in: { max: 10, windowMs: HOUR_MS },
  password_changed: { max: 10, windowMs: HOUR_MS },
  email_changed: { max: 10, windowMs: HOUR_MS },
  alert: { max: 30, windowMs: HOUR_MS },
} as const satisfies Record<LetterKind, { max: number; windowMs: number }>;

/** What one organization may cause, so that it cannot send bulk mail by inviting. */
const PER_ORGANIZATION = { max: 100, windowMs: 24 * HOUR_MS } as const;

export interface Mail {
  /**
   * Whether Relay will try to deliver the letter. Counts it and puts it in a queue; never waits for the mail server, never
   * throws. `organizationId`: whose quota it counts against, for a letter that one of its members causes to others.
   */
  post(letter: Letter, organizationId?: string): Promise<boolean>;
  /** Waits for the mail server, once. Null: it has accepted the letter. For callers that keep the letter until then. */
  deliver(letter: Letter): Promise<SendFailure | null>;
}

export interface RunningMail extends Mail {
  stop(waitMsMax: number): Promise<void>;
}

export interface MailDeps {
  readonly server: SmtpServer;
  readonly from: Sender;
  readonly log: OutboxLog;
  /** Counts in a window that all processes share; returns the count. The name of a subject is not stored in clear. */
  readonly count: (subject: string, windowMs: number) => Promise<number>;
}

export function startMail({ server, from, log, count }: MailDeps): RunningMail {
  const transport = createSmtpTransport(server, from);
  const outbox = createOutbox({ transport, log });
  // Says early that the settings are wrong; mail is queued and retried regardless.
  void transport.verify().then((failure) => {
    if (failure === null) log.info({ host: server.host }, 'mail server is ready');
    else log.warn({ host: server.host, ...failure }, 'mail server is not usable; check RELAY_SMTP_URL');
  });

  async function isWithinQuota(letter: Letter, organizationId: string | undefined): Promise<boolean> {
    const { max, windowMs } = PER_RECIPIENT[letter.kind];
    if ((await count(`${letter.kind} ${letter.to.trim().toLowerCase()}`, windowMs)) > max) return false;
    if (organizationId === undefined) return true;
    return (await count(`organization ${organizationId}`, PER_ORGANIZATION.windowMs)) <= PER_ORGANIZATION.max;
  }

  return {
    async post(letter, organizationId) {
      if (await isWithinQuota(letter, organizationId)) return outbox.put(letter);
      log.warn({ kind: letter.kind }, 'mail dropped: too many to this address or from this organization');
      return false;
    },
    async deliver(letter) {
      if (await isWithinQuota(letter, undefined)) return transport.send(letter);
      return { code: 'quota', reply: null, isFinal: false, reason: 'too many to this address' };
    },
    async stop(waitMsMax) {
      await outbox.stop(waitMsMax);
      await transport.close();
    },
  };
}
