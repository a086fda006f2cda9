import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProviderExtras } from '../domain/snapshot.ts';
import { modelListTarget, operationTarget, passedQuery, withExtraHeaders } from './upstream-request.ts';

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

describe('the query of a client', () => {
  const targetOf = (query: string, extraQuery: ProviderExtras['extraQuery'] = null) =>
    operationTarget(
      { ...none, extraQuery },
      '/v1',
      '/messages',
      'm',
      passedQuery(query, 'the-token-0123456789'),
    );

  it('reaches the provider, encoded, in its order, with what occurs twice', () => {
    assert.equal(targetOf('beta=true'), '/v1/messages?beta=true');
    assert.equal(targetOf('b=2&a=1&b=3'), '/v1/messages?b=2&a=1&b=3');
    assert.equal(targetOf('q=a+b%26c#x&e=%C3%A9'), '/v1/messages?q=a%20b%26c%23x&e=%C3%A9');
    assert.equal(targetOf(''), '/v1/messages');
    assert.equal(targetOf('beta'), '/v1/messages?beta=');
  });
  it('yields to the provider’s own, in any spelling', () => {
    const azure = { 'api-version': '2024-10-21' };
    assert.equal(targetOf('API-Version=2020&x=1', azure), '/v1/messages?x=1&api-version=2024-10-21');
    assert.equal(targetOf('api-version=2020'), '/v1/messages?api-version=2020');
  });
  it('loses what may be a credential, by its name or by its value', () => {
    const names =
      'key api-key API_KEY x-api-key apikey access_token token client_secret password authorization auth sig signature X-Amz-Credential X-Amz-Security-Token code subscription-key';
    for (const name of names.split(' '))
      assert.equal(targetOf(`beta=true&${name}=AIza-0`), '/v1/messages?beta=true', name);
    for (const value of ['the-token-0123456789', 'Bearer%20the-token-0123456789', 'rly_abc', 'xrly%5Fabc'])
      assert.equal(targetOf(`beta=true&k=${value}&${value}=1`), '/v1/messages?beta=true', value);
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
