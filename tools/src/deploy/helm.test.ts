import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { metricTable, variables } from '@relay/server';
import { Ajv } from 'ajv';
import { DEPLOY, readYaml, renderKustomization, unknownSettings, type Value } from './read-yaml.ts';

// Without a Helm binary templates are not rendered; this is what can be known of them as text.

const CHART = join(DEPLOY, 'helm/relay');
const values = readYaml('helm/relay/values.yaml');
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Value;
const templates = readdirSync(join(CHART, 'templates')).map((name) => ({
  name,
  text: readFileSync(join(CHART, 'templates', name), 'utf8'),
}));
const all = templates.map(({ text }) => text).join('\n');

function valueAt(path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Value | undefined)?.[name], values);
}

/** Every path that leads to a value and not to more of them; a map that templates take as a whole is one. */
const LEAVES = [
  'existingSecret',
  'settings',
  'terminationGracePeriodSeconds',
  'replicas',
  'resources',
  ...['image', 'autoscaling', 'disruptionBudgets', 'networkPolicies', 'serviceMonitor'].flatMap((name) =>
    Object.keys(values[name] as Value).map((field) => `${name}.${field}`),
  ),
];

describe('the chart', () => {
  it('has values that its schema accepts, and a schema that refuses others', () => {
    const validate = new Ajv({ strict: true, strictTypes: false }).compile(schema);
    assert.ok(validate(values), JSON.stringify(validate.errors));
    assert.equal(validate({ ...values, replica: 1 }), false);
    assert.equal(validate({ ...values, settings: { RELAY_LAME_DUCK_MS: 5 } }), false);
  });

  it('uses only values that exist, and every value', () => {
    const used = new Set([...all.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path));
    assert.deepEqual(
      [...used].filter((path) => valueAt(path) === undefined),
      [],
    );
    assert.deepEqual(
      LEAVES.filter((path) => !used.has(path)),
      [],
    );
  });

  it('includes only templates that it defines, and closes every block', () => {
    const defined = [...all.matchAll(/define "([\w.]+)"/g)].map(([, name]) => name);
    for (const [, name] of all.matchAll(/include "([\w.]+)"/g)) assert.ok(defined.includes(name), name);
    for (const { name, text } of templates) {
      const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
      assert.equal(count(/\{\{-? (if|range|define|with) /g), count(/\{\{-? end \}\}/g), name);
    }
  });

  it('sets only settings that exist, and scales by a metric that Relay reports', () => {
    const settings = values['settings'] as Readonly<Record<string, string>>;
    assert.deepEqual(unknownSettings(Object.keys(settings)), []);
    for (const [name, value] of Object.entries(settings))
      variables[name as keyof typeof variables].parse(value);
    assert.deepEqual(
      unknownSettings([...all.matchAll(/key: (RELAY_\w+)/g)].map(([, name = '']) => name)),
      [],
    );
    const [, metric = ''] = /metric:\s+name: (\w+)/.exec(all) ?? [];
    assert.ok(Object.hasOwn(metricTable, metric), metric);
    const graceMs = 1_000 * Number(values['terminationGracePeriodSeconds']);
    assert.ok(graceMs >= Number(settings['RELAY_DRAIN_TIMEOUT_MS']) + 15_000);
  });

  it('has the kinds and the settings of the Kustomize form', () => {
    const production = renderKustomization('kubernetes/overlays/production');
    const kinds = new Set(production.map(({ kind }) => kind));
    assert.deepEqual(new Set([...all.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind)), kinds);
    assert.deepEqual(values['settings'], production.find(({ kind }) => kind === 'ConfigMap')?.['data']);
  });
});
