import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProviderExtras } from '../domain/snapshot.ts';
import { modelListTarget, operationTarget, withExtraHeaders } from './upstream-request.ts';

const none: ProviderExtras = { presetSlug: null, extraHeaders: null, extraQuery: null };

describe('where a request goes', () => {
  it('is below the base URL for a provider without particulars', () => {
    assert.equal(operationTarget(none, '/v1', '/chat/completions', 'm'), '/v1/chat/completions');
    assert.equal(modelListTarget(none, '/v1'), '/v1/models');
    assert.equal(modelListTarget({ ...none, presetSlug: 'a name of theirs' }, '/v1'), '/v1/models');
  });
  it('carries the query, encoded', () => {
    const with_ = { ...none, extraQuery: { 'api-version': '2024-10-21', q: 'a b&c=é#' } };
    const query = '?api-version=2024-10-21&q=a%20b%26c%3D%C3%A9%23';
    assert.equal(operationTarget(with_, '', '/responses', 'm'), `/responses${query}`);
    assert.equal(modelListTarget(with_, ''), `/models${query}`);
  });
  it('has the model in the path where the preset says so, encoded', () => {
    const classic = { ...none, presetSlug: 'azure-openai-classic' };
    assert.equal(
      operationTarget(classic, '/openai', '/embeddings', 'a/../b?$&'),
      '/openai/deployments/a%2F..%2Fb%3F%24%26/embeddings',
    );
  });
  it('is elsewhere or nowhere for lists of models of some presets', () => {
    assert.equal(modelListTarget({ ...none, presetSlug: 'cohere' }, '/compatibility/v1'), '/v1/models');
    assert.equal(modelListTarget({ ...none, presetSlug: 'bedrock' }, ''), null);
  });
});

describe('extra headers', () => {
  it('follow the others, and replace those of the same name in any spelling', () => {
    const headers = ['accept', '*/*', 'user-agent', 'curl', 'x-a', '1'];
    assert.deepEqual(withExtraHeaders(headers, { 'User-Agent': 'relay', 'X-Title': 'T' }), [
      ...['accept', '*/*', 'x-a', '1'],
      ...['User-Agent', 'relay', 'X-Title', 'T'],
    ]);
    assert.deepEqual(withExtraHeaders(headers, null), headers);
  });
});
