import assert from 'node:assert/strict';
import { it } from 'node:test';
import { browserName } from './browser-name.ts';

it('a browser has a name without its version, and never the client’s own words', () => {
  const chrome = (version: number) =>
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0 Safari/537.36`;
  assert.equal(browserName(chrome(140)), 'Chrome on Windows');
  assert.equal(browserName(`${chrome(140)} Edg/140.0`), 'Edge on Windows');
  assert.equal(
    browserName('Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'),
    'Firefox on Linux',
  );
  assert.equal(
    browserName(
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Safari/604',
    ),
    'Safari on iOS',
  );
  assert.equal(browserName('curl/8.5.0'), 'curl');
  assert.equal(browserName('<b>Click https://evil.example</b>'), 'Unknown browser');
  assert.equal(browserName(undefined), 'Unknown browser');
});
