import { RelayError } from '../../domain/relay-error.ts';
import { type Fields, fieldsOf } from './stripe-fields.ts';

/** How old a signature may be, so that an event that was overheard cannot be sent again later. */
const SIGNATURE_AGE_SECONDS_MAX = 300;

export interface SignedBody {
  /** Exactly as it was sent: the signature is over its characters. */
  readonly text: string;
  readonly signature: string;
  readonly secret: string;
  readonly nowMs: number;
}

/** The event in a body that Stripe has signed; 400 for any other. */
export async function verifyEvent({ text, signature, secret, nowMs }: SignedBody): Promise<Fields> {
  // Large, and of no use where nothing is charged for.
  const { default: Stripe } = await import('stripe');
  let event: unknown;
  try {
    event = Stripe.webhooks.constructEvent(
      text,
      signature,
      secret,
      SIGNATURE_AGE_SECONDS_MAX,
      undefined,
      nowMs,
    );
  } catch (cause) {
    throw new RelayError('invalid_request', {
      param: 'stripe-signature',
      message:
        'The body is not signed by Stripe with the secret of this webhook, or was signed more than five minutes ago. Check RELAY_STRIPE_WEBHOOK_SECRET.',
      cause,
    });
  }
  return fieldsOf(event, 'event');
}
