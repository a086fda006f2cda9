import type { AlertNote } from '../domain/alert-message.ts';
import { parseGuardrailUrl } from '../domain/guardrails/url.ts';
import type { Clock } from '../kit/clock.ts';
import { type Egress, type FailureReason, sendOnce } from '../kit/egress/index.ts';
import { type Sealer, UnsealError } from '../kit/seal.ts';
import type { Secret } from '../kit/secret.ts';
import { webhookHeaders } from '../kit/sign-webhook.ts';
import type { Mail } from '../mail/mail.ts';
import type { AlertDestinationRow } from '../store/alerts/alert-deliveries.ts';
import { secretBinding } from '../store/configuration/secret-binding.ts';
import { alertLetterOf } from './alert-letter.ts';

const ANSWER_BYTES_MAX = 16 * 1024;

export interface SendDeps {
  readonly egress: Pick<Egress, 'dispatch'>;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly sealer: Pick<Sealer, 'open'>;
  /** Null without a mail server. */
  readonly mail: Pick<Mail, 'deliver'> | null;
  /** Where people open the console. */
  readonly publicUrl: string;
}

/** One attempt: null when the receiver took the message. Otherwise why not, in words without any secret. */
export interface SendFailure {
  readonly error: string;
  readonly status: number | null;
}
export type SendResult = { readonly failure: SendFailure | null; readonly status: number | null };

/** Sends one message to one destination once. Never throws: every failure is a result. `subject`: which limit it is about, for a letter. */
export async function sendAlert(
  deps: SendDeps,
  destination: AlertDestinationRow,
  { message, subject }: { readonly message: AlertNote; readonly subject: string },
  withinMs: number,
): Promise<SendResult> {
  if (destination.kind === 'mail') return sendMail(deps, destination, message, subject);
  const secret = openedSecret(deps, destination);
  const url = parseGuardrailUrl(destination.url ?? '');
  if (secret === null) return failed('Relay can’t decrypt the signing secret with its master keys.');
  if (url === 'invalid') return failed('The URL is not valid.');
  const body = JSON.stringify(message);
  const headers = webhookHeaders(secret, message.id, deps.clock.nowMs(), body);
  const result = await sendOnce(
    { ...deps, responseBytesMax: ANSWER_BYTES_MAX, deadline: AbortSignal.timeout(withinMs) },
    url.origin,
    {
      method: 'POST',
      path: url.path,
      headers: ['content-type', 'application/json', 'user-agent', 'relay-alerts', ...headers],
      body: Buffer.from(body),
    },
    destination.organization_id,
  );
  if (result.kind === 'failed') return failed(REASONS[result.reason]);
  const { status } = result;
  return status >= 200 && status < 300
    ? { failure: null, status }
    : failed(`The receiver returned ${status}.`, status);
}

const REASONS: Readonly<Record<FailureReason, string>> = {
  address_refused: 'The URL resolves to an address that this deployment doesn’t allow.',
  local_resources: 'Relay has no free file descriptor or memory for the connection.',
  dns_failed: 'The host name could not be resolved.',
  connection_refused: 'The receiver refused the connection.',
  connection_failed: 'The connection failed.',
  tls_failed: 'The TLS connection failed.',
  timed_out: 'The receiver did not respond in time.',
  invalid_response: 'The receiver sent an invalid response.',
};

async function sendMail(
  { mail, publicUrl }: SendDeps,
  { address }: AlertDestinationRow,
  message: AlertNote,
  subject: string,
): Promise<SendResult> {
  if (mail === null || address === null) return failed('This deployment has no mail server.');
  const failure = await mail.deliver(alertLetterOf(address, message, subject, publicUrl));
  if (failure === null) return { failure: null, status: null };
  return failed(`The mail server did not accept the message (${failure.reply ?? failure.code}).`);
}

function failed(error: string, status: number | null = null): SendResult {
  return { failure: { error, status }, status };
}

function openedSecret({ sealer }: SendDeps, row: AlertDestinationRow): Secret | null {
  if (row.sealed_secret === null) return null;
  const { organization_id: organizationId, id: ownerId, secret_version: secretVersion } = row;
  try {
    return sealer.open(row.sealed_secret, secretBinding({ organizationId, ownerId, secretVersion }));
  } catch (error) {
    if (error instanceof UnsealError) return null;
    throw error;
  }
}
