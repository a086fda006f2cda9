import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deviceOf } from './user-agent.ts';

const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)';

it('recognizes browsers and systems, although most also contain the names of others', () => {
  const devices = {
    [`Mozilla/5.0 (X11; Linux x86_64) ${KHTML} HeadlessChrome/140.0.0.0 Safari/537.36`]: ['Chrome', 'Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`]: [
      'Edge',
      'Windows',
    ],
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15':
      ['Safari', 'macOS'],
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0': [
      'Firefox',
      'macOS',
    ],
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1':
      ['Chrome', 'iOS'],
    [`Mozilla/5.0 (Linux; Android 15; Pixel 9) ${KHTML} Chrome/140.0.0.0 Mobile Safari/537.36`]: [
      'Chrome',
      'Android',
    ],
    'curl/8.5.0': ['curl', null],
    'something else': [null, null],
  };
  for (const [userAgent, [browser, system]] of Object.entries(devices))
    assert.deepEqual(deviceOf(userAgent), { browser, system }, userAgent);
});
