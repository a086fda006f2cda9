import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spliceModel } from './splice-model.ts';

describe('splicing the model', () => {
  it('changes the model value and no other byte', () => {
    const body = Buffer.from('{ "model" : "fast",\n"n":1e0, "text":"\\u00e9 é"}');
    assert.equal(spliceModel(body, 'm-1').toString(), '{ "model" : "m-1",\n"n":1e0, "text":"\\u00e9 é"}');
  });

  it('leaves a body without a model as it is', () => {
    assert.equal(spliceModel(Buffer.from('{"input":"x"}'), 'm-1').toString(), '{"input":"x"}');
  });
});
