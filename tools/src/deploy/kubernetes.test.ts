import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { metricTable, variables } from '@relay/server';
import { type ClusterObject, renderKustomization, unknownSettings, type Value } from './read-yaml.ts';
import { schemaFaults } from './schema-faults.ts';

const overlays = ['kubernetes/roles', 'kubernetes/overlays/small', 'kubernetes/overlays/production'];
const rendered = new Map(overlays.map((path) => [path, renderKustomization(path)]));
const production = rendered.get('kubernetes/overlays/production') ?? [];
const ofKind = (kind: string, objects: readonly ClusterObject[] = production) =>
  objects.filter((each) => each.kind === kind);

interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext: {
    readonly runAsNonRoot: boolean;
    readonly seccompProfile: { readonly type: string };
  };
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly securityContext: Value;
    readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
    readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
  }[];
}

function podOf(object: ClusterObject): PodSpec {
  return (object['spec'] as { template: { spec: PodSpec } }).template.spec;
}

const settings = (ofKind('ConfigMap')[0]?.['data'] ?? {}) as Readonly<Record<string, string>>;

describe('the rendered manifests', () => {
  for (const [path, objects] of rendered)
    it(`of ${path} are valid under the schemas of Kubernetes`, async () => {
      assert.ok(objects.length >= 10);
      const faults = (await Promise.all(objects.map(schemaFaults))).flat();
      assert.deepEqual(faults, []);
    });

  it('are refused with a field that does not exist, a wrong type, and a missing field', async () => {
    const [deployment] = ofKind('Deployment');
    assert.ok(deployment);
    const withSpec = (more: Value) => ({
      ...deployment,
      spec: { ...(deployment['spec'] as Value), ...more },
    });
    assert.deepEqual(await schemaFaults(withSpec({ replica: 2 })), [
      'Deployment.spec.replica is not a field',
    ]);
    assert.match((await schemaFaults(withSpec({ replicas: 'two' })))[0] ?? '', /replicas/);
    assert.equal((await schemaFaults({ ...deployment, spec: {} })).length, 1);
  });

  it('run the three roles, the migration, and scale the gateway', () => {
    const args = production.flatMap((each) =>
      ['Deployment', 'Job'].includes(each.kind) ? [podOf(each).containers[0]?.args.join(' ')] : [],
    );
    assert.deepEqual(args.sort(), [
      'migrate up',
      'serve --role inference',
      'serve --role platform',
      'serve --role worker',
    ]);
    for (const [kind, count] of Object.entries({
      PodDisruptionBudget: 3,
      Service: 3,
      NetworkPolicy: 2,
      ServiceMonitor: 1,
    }))
      assert.equal(ofKind(kind).length, count, kind);
  });

  it('set only settings that exist, to values that Relay accepts', () => {
    assert.deepEqual(unknownSettings(Object.keys(settings)), []);
    for (const [name, value] of Object.entries(settings))
      variables[name as keyof typeof variables].parse(value);
  });

  it('give a pod longer to end than Relay takes to drain', () => {
    for (const deployment of ofKind('Deployment')) {
      const graceMs = 1_000 * (podOf(deployment).terminationGracePeriodSeconds ?? 0);
      assert.ok(graceMs >= Number(settings['RELAY_DRAIN_TIMEOUT_MS']) + 15_000, `${graceMs}`);
    }
    assert.ok(Number(settings['RELAY_LAME_DUCK_MS']) < Number(settings['RELAY_DRAIN_TIMEOUT_MS']));
  });

  it('scale by a metric that Relay reports', () => {
    const [autoscaler] = ofKind('HorizontalPodAutoscaler');
    assert.ok(autoscaler);
    const { metrics } = autoscaler['spec'] as { metrics: { pods: { metric: { name: string } } }[] };
    for (const { pods } of metrics) assert.ok(Object.hasOwn(metricTable, pods.metric.name), pods.metric.name);
  });

  it('restrict every pod, and probe every server', () => {
    for (const object of production.filter(({ kind }) => ['Deployment', 'Job'].includes(kind))) {
      const pod = podOf(object);
      assert.equal(pod.securityContext.runAsNonRoot, true);
      assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault');
      assert.equal(pod.automountServiceAccountToken, false);
      for (const container of pod.containers) {
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        if (object.kind === 'Job') continue;
        assert.equal(container.readinessProbe?.httpGet.path, '/readyz');
        assert.equal(container.livenessProbe?.httpGet.path, '/livez');
      }
    }
  });

  it('select pods that exist', () => {
    const labels = ofKind('Deployment').map(
      (each) => (each['spec'] as { template: { metadata: { labels: Value } } }).template.metadata.labels,
    );
    const selectors = [
      ...ofKind('Service').map((each) => (each['spec'] as { selector: Value }).selector),
      ...ofKind('PodDisruptionBudget').map(
        (each) => (each['spec'] as { selector: { matchLabels: Value } }).selector.matchLabels,
      ),
    ];
    for (const selector of selectors) {
      const chosen = labels.filter((each) =>
        Object.entries(selector).every(([name, value]) => each[name] === value),
      );
      assert.equal(chosen.length, 1, JSON.stringify(selector));
    }
  });
});
