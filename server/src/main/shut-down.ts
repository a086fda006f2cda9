import { setTimeout as afterMs } from 'node:timers/promises';
import type { Listener } from '../http/listener.ts';
import type { RunningMail } from '../mail/mail.ts';
import type { RunningTracing } from './create-tracing.ts';
import type { Upstream } from './create-upstream.ts';
import type { Configuration } from './open-configuration.ts';
import type { MeteringPart, Stores } from './open-stores.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';
import type { RunningAdmission } from './start-admission.ts';
import type { RunningAuthenticators } from './start-authenticators.ts';
import type { RunningInference } from './start-inference.ts';
import type { ClockWatch } from './watch-clocks.ts';

/** What a process stops, in order. */
export interface StoppedParts {
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'close'>;
  readonly configuration: Pick<Configuration, 'snapshots' | 'secrets'>;
  readonly clocks: Pick<ClockWatch, 'stop'>;
  readonly upstream: Upstream;
  readonly admission: Pick<RunningAdmission, 'stop'>;
  readonly mail: Pick<RunningMail, 'stop'> | null;
  readonly authenticators: Pick<RunningAuthenticators, 'stop'>;
  readonly inference: Pick<RunningInference, 'stop' | 'cutOff'>;
  readonly tracing: Pick<RunningTracing, 'stop'> | null;
  readonly metering: () => Pick<MeteringPart, 'stop'> | null;
}

/** Shares of the time after the last request. A store that hangs takes its step's share, and no more; the stores' own end gets what is left. */
const FLUSH_MS_MAX = 5_000;
const WORK_MS_MAX = 3_000;
/** How long a process may take after `RELAY_DRAIN_TIMEOUT_MS`. */
const CLOSING_MS_MAX = 10_000;

/**
 * Not ready first, while load balancers notice; then no new requests; at the end of the drain time what is open is cut off. Then
 * brings usage to a store or the disk, stops what serving needs, and closes the stores last. Nothing is lost with a step that does not end: usage is on
 * the disk by then, and what a worker has not acknowledged stays in its stream.
 */
export async function shutDown(running: StoppedParts, listener: Listener): Promise<{ cut: number }> {
  const { environment, log, clock } = running.runtime;
  const endMs = clock.monotonicMs() + environment.RELAY_DRAIN_TIMEOUT_MS;
  running.runtime.startLeaving();
  listener.startLeaving();
  log.info({ open_requests: listener.openRequests() }, 'draining');
  await afterMs(lameDuckMsOf(running.runtime));
  await listener.received();
  running.runtime.startDraining();
  const { cut } = await listener.drain(Math.max(0, endMs - clock.monotonicMs()), running.inference.cutOff);

  const closedByMs = clock.monotonicMs() + CLOSING_MS_MAX;
  const step = createSteps(running.runtime);
  const mailed = step('mail', FLUSH_MS_MAX, () => running.mail?.stop(FLUSH_MS_MAX));
  const flushed = await step('usage', FLUSH_MS_MAX, () => running.admission.stop(FLUSH_MS_MAX));
  await mailed;
  await Promise.all([
    step('tracing', WORK_MS_MAX, () => running.tracing?.stop()),
    step('metering', WORK_MS_MAX, () => running.metering()?.stop()),
    step('inference', WORK_MS_MAX, () => running.inference.stop()),
    step('authenticators', WORK_MS_MAX, () => running.authenticators.stop()),
    step('configuration', WORK_MS_MAX, () => running.configuration.snapshots.stop()),
    step('secrets', WORK_MS_MAX, () => running.configuration.secrets.stop()),
  ]);
  running.clocks.stop();
  const leftMs = closedByMs - clock.monotonicMs();
  await Promise.all([
    step('connections', leftMs, () => running.upstream.egress.close()),
    step('stores', leftMs, () => running.stores.close()),
  ]);
  log.info({ cut, kept_on_disk: flushed?.kept ?? null, lost: flushed?.lost ?? null }, 'stopped');
  return { cut };
}

/** Runs a step for at most its share, and says which one did not end. */
function createSteps({ log }: Pick<Runtime, 'log'>) {
  return async <T>(
    name: string,
    msMax: number,
    run: () => Promise<T> | undefined,
  ): Promise<T | undefined> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        log.warn({ step: name }, 'the process stops without waiting longer for this step');
        resolve(undefined);
      }, msMax);
    });
    const ended = Promise.resolve(run()).catch((error: unknown) => {
      log.warn({ err: error, step: name }, 'a step of stopping failed');
      return undefined;
    });
    const result = await Promise.race([ended, late]);
    clearTimeout(timer);
    return result;
  };
}

/** A process without clients has none to wait for. */
function lameDuckMsOf({ environment, roleName }: Runtime): number {
  const { management, inference } = roles[roleName];
  if (!management && !inference) return 0;
  return Math.min(environment.RELAY_LAME_DUCK_MS, environment.RELAY_DRAIN_TIMEOUT_MS);
}
