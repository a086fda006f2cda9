import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAddressPolicy } from './address.ts';
import { checkTargetUrl, parseTargetUrl } from './target-url.ts';

const closed = createAddressPolicy([]);

describe('target URLs', () => {
  it('splits an address into the origin that is dialled and the path every request starts with', () => {
    assert.deepEqual(parseTargetUrl('https://api.example.com/v1/'), {
      origin: 'https://api.example.com',
      hostname: 'api.example.com',
      pathPrefix: '/v1',
    });
  });

  const refused: [string, string][] = [
    ['api.example.com', 'not_a_url'],
    ['ftp://example.com', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['https://user@example.com', 'credentials'],
    ['https://example.com@127.0.0.1/', 'credentials'],
    ['https://example.com/v1?x=1', 'query_or_fragment'],
    ['https://example.com/#@127.0.0.1', 'credentials'],
    ['https://example.com/#', 'query_or_fragment'],
    ['https://example.com\\@127.0.0.1/', 'characters'],
    ['https://exa mple.com/', 'characters'],
    ['https://example.com/\n', 'characters'],
    ['https://example.com/%00', 'characters'],
    ['https://example.com%2f@x/', 'characters'],
    ['https://example.com/%5c', 'characters'],
    ['http://127.0.0.1/', 'address'],
    ['http://127.1/', 'address'],
    ['http://2130706433/', 'address'],
    ['http://0x7f000001/', 'address'],
    ['http://0177.0.0.1/', 'address'],
    ['http://[::1]/', 'address'],
    ['http://[::ffff:127.0.0.1]/', 'address'],
    ['http://localhost:8080/', 'address'],
    ['http://LOCALHOST/', 'address'],
    ['http://a.localhost/', 'address'],
    ['http://localhost./', 'address'],
    ['http://a.LOCALHOST./', 'address'],
    ['http://169.254.169.254/latest', 'address'],
    ['http://[64:ff9b::7f00:1]/', 'address'],
  ];
  for (const [url, problem] of refused) {
    it(`refuses ${JSON.stringify(url)}: ${problem}`, () =>
      assert.equal(checkTargetUrl(url, closed), problem));
  }

  it('lets an operator open loopback', () => {
    const opened = createAddressPolicy(['127.0.0.0/8']);
    assert.equal(typeof checkTargetUrl('http://127.0.0.1:9000/v1', opened), 'object');
    assert.equal(typeof checkTargetUrl('http://localhost:9000/v1', opened), 'object');
  });
});
