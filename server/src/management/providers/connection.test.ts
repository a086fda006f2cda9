import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayError } from '../../domain/relay-error.ts';
import { parseTargetUrl } from '../../kit/egress/target-url.ts';
import { providerPresets } from '../../protocols/provider-presets.ts';
import { type Connection, checkedConnection } from './connection.ts';

const plain: Connection = {
  base_url: 'https://api.example.com/v1',
  auth_mode: 'bearer_static',
  auth_header_name: null,
  aws_region: null,
  aws_service: null,
  extra_headers: null,
  extra_query: null,
  preset_slug: null,
};
const checked = (over: Partial<Connection>) =>
  checkedConnection({ check: parseTargetUrl }, { ...plain, ...over });

function refused(over: Partial<Connection>): { param: unknown; message: string } {
  try {
    checked(over);
  } catch (error) {
    assert.ok(error instanceof RelayError);
    return { param: error.detail.param, message: error.message };
  }
  throw new Error('was accepted');
}

describe('authentication', () => {
  it('for AWS needs a region, from the provider or its host name', () => {
    const aws = { auth_mode: 'aws_sigv4' } as const;
    const url = 'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1';
    assert.equal(checked({ ...aws, base_url: url }).aws_region, null);
    assert.equal(checked({ ...aws, aws_region: 'eu-west-1' }).aws_region, 'eu-west-1');
    assert.equal(refused(aws).param, 'aws_region');
  });

  it('with a client certificate needs TLS', () => {
    const certificate = { auth_mode: 'client_certificate' } as const;
    assert.equal(checked(certificate).auth_mode, 'client_certificate');
    assert.equal(refused({ ...certificate, base_url: 'http://api.example.com/v1' }).param, 'base_url');
  });
});

describe('extra headers', () => {
  it('are kept as they are written; none are null', () => {
    const extra_headers = { 'X-Title': 'My app', 'HTTP-Referer': 'https://example.com/a?b' };
    assert.deepEqual(checked({ extra_headers }).extra_headers, extra_headers);
    assert.equal(checked({ extra_headers: {} }).extra_headers, null);
  });
  const names = [
    ...['connection', 'Keep-Alive', 'te', 'Trailer', 'transfer-encoding', 'upgrade', 'proxy-authorization'],
    ...['Authorization', 'host', 'Content-Length', 'content-type', 'cookie', 'set-cookie', 'x-relay-wait-ms'],
    ...['X-API-Key', 'api-key', 'x-goog-api-key', 'x-forwarded-for', 'a b', 'a:b', '', 'é', 'a\r\nb'],
  ];
  for (const name of names) {
    it(`are refused by name: ${JSON.stringify(name)}`, () => {
      assert.equal(refused({ extra_headers: { [name]: 'x' } }).param, 'extra_headers');
      // What a signature brings along.
      const signed = { auth_mode: 'aws_sigv4' as const, aws_region: 'us-east-1' };
      assert.equal(refused({ ...signed, extra_headers: { 'X-Amz-Date': 'x' } }).param, 'extra_headers');
    });
  }
  it('are refused with control characters, in another alphabet and with white space at the ends', () => {
    for (const value of ['a\r\nb: c', 'a\0', '\t', 'ü', ' a', 'a '])
      assert.equal(refused({ extra_headers: { 'x-a': value } }).param, 'extra_headers');
  });
  it('are refused when one carries the credential or is there twice', () => {
    const byHeader = { auth_mode: 'header_static', auth_header_name: 'X-Key' } as const;
    assert.match(refused({ ...byHeader, extra_headers: { 'x-key': 'a' } }).message, /store a credential/);
    assert.match(refused({ extra_headers: { 'x-a': '1', 'X-A': '2' } }).message, /twice/);
  });
  it('are bounded in number and size', () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, '']));
    assert.match(refused({ extra_headers: many }).message, /at most 20/);
    assert.match(refused({ extra_headers: { [`x-${'a'.repeat(99)}`]: '' } }).message, /at most 100/);
    const large = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`x-${n}`, 'a'.repeat(1_000)]));
    assert.match(refused({ extra_headers: large }).message, /at most 4,096/);
  });
});

describe('extra query parameters', () => {
  it('are joined with those of the base URL, which win', () => {
    const { base_url, extra_query } = checked({
      base_url: 'https://api.example.com/openai/?api-version=2025-01-01&a=b%20c',
      extra_query: { 'api-version': '2024-10-21', d: 'é' },
    });
    assert.equal(base_url, 'https://api.example.com/openai');
    assert.deepEqual(extra_query, { 'api-version': '2025-01-01', a: 'b c', d: 'é' });
  });
  it('are refused with control characters, half characters or no name', () => {
    for (const extra_query of [{ a: 'b\n' }, { 'a\0': '' }, { a: '\ud800' }, { '': 'b' }])
      assert.equal(refused({ extra_query }).param, 'extra_query');
    assert.equal(refused({ base_url: 'https://api.example.com?a=%0d%0a' }).param, 'extra_query');
  });
  it('are taken from plain queries alone', () => {
    for (const query of ['?', '?x=@evil.example', '?a=b#c', '?a=b?c', '?a=<'])
      assert.equal(refused({ base_url: `https://api.example.com${query}` }).param, 'base_url', query);
  });
});

describe('a base URL', () => {
  it('that is missing or has placeholders is refused with what to do', () => {
    assert.match(refused({ base_url: null }).message, /is missing/);
    assert.match(refused({ base_url: 'https://{resource}.example.com' }).message, /still has \{resource\}/);
  });
});

describe('presets', () => {
  for (const preset of providerPresets) {
    it(`${preset.slug} can be created once its placeholders are filled in`, () => {
      const base_url = preset.base_url.replaceAll(/\{\w+\}/g, 'us-east-1');
      const { slug: preset_slug, auth_mode, auth_header_name, extra_headers, extra_query } = preset;
      const given = { base_url, auth_mode, auth_header_name, extra_headers, extra_query, preset_slug };
      assert.deepEqual(checked(given), { ...given, aws_region: null, aws_service: null });
    });
  }
});
