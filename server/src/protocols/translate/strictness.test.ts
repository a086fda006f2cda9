import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JsonSource } from '../../kit/json-source.ts';
import { canBeStrict } from './strictness.ts';

const closed = (properties: object, required = Object.keys(properties), more: object = {}) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  ...more,
});
const text = { type: 'string' };

/** Schemas, and who can be made to keep to them. */
const schemas: readonly [name: string, schema: unknown, chat: boolean, messages: boolean][] = [
  ['all properties required', closed({ a: text }), true, true],
  ['no properties', closed({}), true, true],
  ['its source', new JsonSource(JSON.stringify(closed({ a: text })), closed({ a: text })), true, true],
  ['an optional property', closed({ a: text }, []), false, true],
  ['other properties', { type: 'object', properties: { a: text }, required: ['a'] }, false, false],
  ['other properties of a type', closed({}, [], { additionalProperties: text }), false, false],
  ['an open object inside', closed({ a: { type: 'object', properties: {} } }), false, false],
  ['an open object in a list', closed({ a: { type: 'array', items: { type: 'object' } } }), false, false],
  ['an open object in a definition', closed({}, [], { $defs: { a: { type: 'object' } } }), false, false],
  ['an object or null', closed({ a: { ...closed({ b: text }), type: ['object', 'null'] } }), true, true],
  ['one of several', closed({ a: { anyOf: [text, { type: 'null' }] } }), true, true],
  ['all of several', closed({ a: { allOf: [text] } }), false, true],
  ['a reference', closed({ a: { $ref: '#/$defs/b' } }, ['a'], { $defs: { b: text } }), true, true],
  ['known values', closed({ a: { enum: ['x'] }, b: { const: 1 } }), true, true],
  ['any value', closed({ a: {} }), false, false],
  ['bounds of a number', closed({ a: { type: 'integer', minimum: 1 } }), true, false],
  ['a length', closed({ a: { type: 'string', maxLength: 1 } }), true, false],
  ['a pattern', closed({ a: { type: 'string', pattern: '^a' } }), true, true],
  ['a negation', closed({ a: { not: text } }), false, false],
  ['no object', { type: 'array', items: text }, false, false],
  ['a schema that is none', true, false, false],
];

describe('a schema that a provider can be made to keep to', () => {
  for (const [name, schema, chat, messages] of schemas)
    it(name, () => {
      assert.deepEqual([canBeStrict('chat', schema), canBeStrict('messages', schema)], [chat, messages]);
    });
});
