import { createHmac } from 'node:crypto';
import type { Secret } from './secret.ts';

/** How a signing secret begins; the rest is its bytes in base64. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_';

/** The headers of Standard Webhooks (https://www.standardwebhooks.com), names and values in turn. */
export function webhookHeaders(secret: Secret, id: string, atMs: number, body: string): string[] {
  const timestamp = String(Math.floor(atMs / 1_000));
  const key = Buffer.from(secret.reveal().slice(WEBHOOK_SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return ['webhook-id', id, 'webhook-timestamp', timestamp, 'webhook-signature', `v1,${signature}`];
}
