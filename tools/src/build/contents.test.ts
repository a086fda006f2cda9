import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentFaults } from './contents.ts';

const whole = [
  'LICENSE',
  'README.md',
  'package.json',
  'bin/relay.js',
  'lib/cli.js',
  'lib/cli.js.map',
  'lib/licenses.md',
  'lib/relay-gateway.cdx.json',
  'lib/server-main.js',
  'lib/engine-worker.js',
  'lib/what-if-worker.js',
  'lib/server/src/store/embedded/empty-database.tar.zst',
  'lib/provider-sim-src.js',
  'lib/server/src/store/postgres/migrations/1-create-one.sql',
  'lib/server/src/admission/redis/script/admit.lua',
  'lib/console/dist/index.html',
  'lib/console/dist/licenses.md',
];

describe('the contents of the package', () => {
  it('are accepted when everything is there and nothing else', () => {
    assert.deepEqual(contentFaults(whole), []);
  });

  it('are refused for each part that is missing', () => {
    for (const part of whole) {
      const left = whole.filter((path) => path !== part);
      assert.equal(contentFaults(left).length, 1, part);
    }
  });

  it('are refused for what nothing there needs', () => {
    for (const path of ['lib/server/src/store/postgres/migrate.ts', 'lib/.env', 'npm-debug.log'])
      assert.deepEqual(contentFaults([...whole, path]), [`holds ${path}, which nothing there needs`]);
  });
});
