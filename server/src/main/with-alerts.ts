import { nextWindowMs, windowStartMs } from '../admission/calendar-window.ts';
import { startAlerts } from '../alerts/start-alerts.ts';
import type { Mail } from '../mail/mail.ts';
import type { Upstream } from './create-upstream.ts';
import type { Configuration } from './open-configuration.ts';
import type { MeteringPart, Stores } from './open-stores.ts';
import type { Runtime } from './runtime.ts';

interface AlertParts {
  readonly runtime: Pick<Runtime, 'clock' | 'log' | 'publicUrl'>;
  readonly stores: Pick<Stores, 'database'>;
  readonly configuration: Pick<Configuration, 'sealer'>;
  readonly upstream: Pick<Upstream, 'egress'>;
  readonly mail: Mail | null;
}

/** A process that meters also evaluates and sends alerts. */
export function withAlerts(metering: MeteringPart, parts: AlertParts): MeteringPart {
  const { clock, log, publicUrl } = parts.runtime;
  const alerts = startAlerts({
    db: parts.stores.database.db,
    egress: parts.upstream.egress,
    sealer: parts.configuration.sealer,
    mail: parts.mail,
    clock,
    log,
    publicUrl,
    random: Math.random,
    windowAt: (period, atMs) => ({
      startMs: windowStartMs(period, atMs),
      endMs: nextWindowMs(period, atMs),
    }),
  });
  return {
    ...metering,
    async stop() {
      await Promise.all([alerts.stop(), metering.stop()]);
    },
  };
}
