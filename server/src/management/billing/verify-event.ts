import { RelayError } from '../../domain/relay-error.ts';
import { type Fields, fieldsOf } from './stripe-fields.ts';
import { isSignedByStripe, type SignedBody } from './stripe-signature.ts';

/** Returns the event of a body with a valid Stripe signature. Throws 400 otherwise. */
export function verifyEvent(body: SignedBody): Fields {
  if (!isSignedByStripe(body)) throw notSigned();
  let event: unknown;
  try {
    event = JSON.parse(body.text);
  } catch (cause) {
    throw notSigned(cause);
  }
  const fields = fieldsOf(event, 'event');
  // Thin events of Stripe's API v2 contain no object to read.
  if (fields.maybeText('object') === 'v2.core.event') throw notSigned();
  return fields;
}

function notSigned(cause?: unknown): RelayError {
  return new RelayError('invalid_request', {
    param: 'stripe-signature',
    message:
      'The body isn’t signed with this webhook’s secret, or was signed more than 5 minutes ago. Check RELAY_STRIPE_WEBHOOK_SECRET.',
    cause,
  });
}
