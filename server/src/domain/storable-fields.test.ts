import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayError } from './relay-error.ts';
import { demandStorable } from './storable-fields.ts';

function refused(fields: object): void {
  const [param] = Object.keys(fields);
  assert.throws(
    () => demandStorable(fields, { count: 10 }),
    (error) => error instanceof RelayError && error.detail.param === param,
  );
}

describe('fields that PostgreSQL cannot hold are refused by name', () => {
  it('text with NUL or with half of a surrogate pair, which the audit log could not hold', () => {
    refused({ name: 'a\0b' });
    refused({ name: '\udc00\ud800' });
    demandStorable({ name: 'é😀', other: null, list: ['\0'] });
  });

  it('integers past the range of their column', () => {
    refused({ count: 11 });
    demandStorable({ count: 10, other: 11 });
  });
});
