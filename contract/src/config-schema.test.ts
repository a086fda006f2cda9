import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigFile } from './config-file.ts';
import { buildConfigSchema } from './config-schema.ts';

describe('the JSON Schema of relay.yaml', () => {
  const text = JSON.stringify(buildConfigSchema());
  const schema = JSON.parse(text) as {
    readonly required: readonly string[];
    readonly additionalProperties: boolean;
    readonly properties: Readonly<
      Record<string, { readonly items?: { readonly additionalProperties: boolean } }>
    >;
  };

  it('has every section of the contract, and takes no field that it does not name', () => {
    assert.deepEqual(Object.keys(schema.properties), Object.keys(ConfigFile.properties));
    assert.deepEqual(schema.required, ['version']);
    assert.equal(schema.additionalProperties, false);
    for (const [name, { items }] of Object.entries(schema.properties))
      if (name !== 'version') assert.equal(items?.additionalProperties, false, name);
  });

  it('refers to nothing outside itself and holds no mark of the library', () => {
    assert.doesNotMatch(text, /"\$ref"|"~/);
  });

  it('takes a secret by reference alone', () => {
    assert.doesNotMatch(text, /writeOnly/);
    assert.match(text, /"secret_ref"/);
  });
});
