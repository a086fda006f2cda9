import { createHmac } from 'node:crypto';
import { type RunningMail, startMail } from '../mail/mail.ts';
import { createWindowCounters } from '../store/redis/window-counters.ts';
import { sessionSecretFrom } from './auth-secrets.ts';
import type { Stores } from './open-stores.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';

/** Mail as the environment configures it; null without a mail server, and in a process that sends none. */
export function createMail({
  runtime,
  stores,
}: {
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'redis'>;
}): RunningMail | null {
  const { environment, roleName, clock, log } = runtime;
  const { RELAY_SMTP_URL: server, RELAY_MAIL_FROM: from, RELAY_AUTH_SECRET: secret } = environment;
  const { management, metering } = roles[roleName];
  if (server === null || from === null || !(management || metering)) return null;
  const sessionSecret = sessionSecretFrom(secret ?? '');
  const counters = createWindowCounters({ redis: stores.redis, clock });
  // Redis shows how much mail there is, not to whom.
  const keyOf = (subject: string) =>
    `relay:mail:${createHmac('sha256', sessionSecret).update(`mail\0${subject}`).digest('base64url')}`;
  return startMail({
    server,
    from,
    log,
    count: async (subject, windowMs) => (await counters.take(keyOf(subject), windowMs)).count,
  });
}
