import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigFile } from '@relay/contract';
import { allSections } from '../registry/section-list.ts';

interface ItemSchema {
  readonly properties: Readonly<Record<string, { readonly default?: unknown }>>;
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
}

const sections = ConfigFile.properties as unknown as Record<string, { readonly items: ItemSchema }>;

describe('alerts of a limit in a file', () => {
  const section = allSections.find(({ name }) => name === 'limit_policies');
  const checked = (over: object) => {
    const limit = { scope_type: 'global', scope: null, metric: 'spend', limit_value: 5, ...over };
    // No egress is asked about by this section.
    return section?.checked({ ...section.defaults, ...limit }, {} as never);
  };

  it('are compared as they are stored: in order, without repeats', () => {
    assert.deepEqual(checked({ period: 'day', alert_at: [80, 50, 80] })?.['alert_at'], [50, 80]);
    assert.throws(() => checked({ period: 'minute', alert_at: [80] }), /alert_at needs a limit/);
  });
});

describe('the sections of the configuration file', () => {
  it('are those of the contract', () => {
    const { version: _, ...named } = sections;
    assert.deepEqual(
      allSections.map(({ name }) => name),
      Object.keys(named),
    );
  });

  for (const section of allSections) {
    const item = sections[section.name]?.items as ItemSchema;

    it(`${section.name} has a default for exactly what an item may leave out, the one the contract names`, () => {
      assert.equal(item.additionalProperties, false);
      const optional = Object.keys(item.properties).filter((field) => !item.required.includes(field));
      // A slug that is left out follows from the name, a base URL from the preset.
      assert.deepEqual(
        Object.keys(section.defaults).sort(),
        optional.filter((field) => field !== 'slug' && field !== 'base_url').sort(),
      );
      for (const [field, value] of Object.entries(section.defaults)) {
        const said = item.properties[field]?.default;
        if (said !== undefined) assert.deepEqual(value, said, field);
      }
    });

    it(`${section.name} names only items of sections before it`, () => {
      const entry = Object.fromEntries(section.fields.map((field) => [field, 'x']));
      const before = allSections.slice(0, allSections.indexOf(section)).map(({ name }) => name);
      for (const reference of section.referencesOf({ ...entry, scope_type: 'lane', target_type: 'lane' })) {
        assert.ok(before.includes(reference.section), reference.section);
      }
    });
  }
});
