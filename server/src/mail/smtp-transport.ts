import type { Letter } from './letter.ts';
import type { Sender, SmtpServer } from './smtp-server.ts';

export const SENDING_MAX = 4;
const CONNECT_MS_MAX = 10_000;
const SILENCE_MS_MAX = 30_000;

/** Why a message was not accepted, in words that are safe to log: no recipient, no link, no password. */
export interface SendFailure {
  readonly code: string;
  /** The server's reply code. */
  readonly reply: number | null;
  /** The server will not accept this message later either. */
  readonly isFinal: boolean;
  readonly reason: string | null;
}

export interface Transport {
  /** Null: the server has accepted the message. */
  send(letter: Letter): Promise<SendFailure | null>;
  /** Connects and signs in. */
  verify(): Promise<SendFailure | null>;
  /** Ends what is being sent. */
  close(): Promise<void>;
}

/** Delivers to the operator's mail server. The library is loaded at the first use. */
export function createSmtpTransport(server: SmtpServer, from: Sender): Transport {
  let loading: ReturnType<typeof load> | null = null;
  const transport = () => {
    loading ??= load(server);
    return loading;
  };
  const attempt = async (run: (open: Awaited<ReturnType<typeof load>>) => Promise<unknown>) => {
    try {
      await run(await transport());
      return null;
    } catch (error) {
      return failureOf(error);
    }
  };
  return {
    send: (letter) =>
      attempt((open) =>
        open.sendMail({
          from: { ...from },
          // An object is not parsed, so that one address stays one recipient.
          to: { name: '', address: letter.to },
          subject: letter.subject,
          text: letter.text,
          html: letter.html,
          // No vacation notes in return.
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        }),
      ),
    verify: () => attempt((open) => open.verify()),
    async close() {
      (await loading)?.close({ force: true });
    },
  };
}

async function load({ host, port, tls, login }: SmtpServer) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    // A pool of connections for one message each, because only a pool can be closed while it sends.
    pool: true,
    maxConnections: SENDING_MAX,
    maxMessages: 1,
    maxRequeues: 0,
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'none',
    ...(login !== null && { auth: { user: login.user, pass: login.password.reveal() } }),
    connectionTimeout: CONNECT_MS_MAX,
    greetingTimeout: CONNECT_MS_MAX,
    dnsTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    // The library could otherwise read attachments from paths and URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Rejections of the message itself; a rejected password may be accepted later. */
const OF_MESSAGE = ['EENVELOPE', 'EMESSAGE'];

function failureOf(error: unknown): SendFailure {
  const { code, responseCode, permanent, message } = error as {
    readonly code?: unknown;
    readonly responseCode?: unknown;
    readonly permanent?: unknown;
    readonly message?: unknown;
  };
  const reply = typeof responseCode === 'number' ? responseCode : null;
  const name = typeof code === 'string' ? code : 'unknown';
  return {
    code: name,
    reply,
    isFinal: OF_MESSAGE.includes(name) && (permanent === true || reply === null),
    // A server's own words may repeat the recipient or the user.
    reason: reply === null && typeof message === 'string' ? message.slice(0, 200) : null,
  };
}
