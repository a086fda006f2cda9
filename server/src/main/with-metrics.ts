import type { RequestHandler } from '../http/listener.ts';
import { createMetricsPage } from '../http/metrics-page.ts';
import { Secret } from '../kit/secret.ts';
import { createServerMetrics, type MetricSources } from './create-metrics.ts';
import type { RunningTracing } from './create-tracing.ts';
import type { Measurements } from './measurements.ts';
import type { Configuration } from './open-configuration.ts';
import type { Stores } from './open-stores.ts';
import type { Runtime } from './runtime.ts';
import { storeFaultsOf } from './store-faults.ts';

export interface MetricsPageParts extends Pick<MetricSources, 'admission' | 'clocks' | 'metering'> {
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'redis' | 'fault' | 'backlog'>;
  readonly configuration: Configuration;
  readonly measurements: Measurements;
  readonly tracing: Pick<RunningTracing, 'state'> | null;
  readonly authenticators: Pick<MetricSources, 'keysHeld'>;
}

/** Serves `/metrics` and passes every other request on. */
export function withMetrics(parts: MetricsPageParts, everythingElse: RequestHandler): RequestHandler {
  const { runtime, configuration, clocks, measurements, admission, metering } = parts;
  const { environment, roleName, deployment, publicUrl, clock, log } = runtime;
  const metrics = createServerMetrics({
    info: { version: deployment.version, role: roleName, mode: deployment.mode },
    measurements,
    admission,
    snapshots: configuration.snapshots,
    redis: parts.stores.redis,
    keysHeld: parts.authenticators.keysHeld,
    metering,
    traces: parts.tracing?.state ?? null,
    storeFaults: () => storeFaultsOf(parts),
    backlog: parts.stores.backlog,
    clock,
    clocks,
  });
  const token = environment.RELAY_METRICS_TOKEN;
  return createMetricsPage(
    { metrics, token: token === null ? null : new Secret(token), publicUrl, log },
    everythingElse,
  );
}
