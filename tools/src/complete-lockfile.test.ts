import assert from 'node:assert/strict';
import { it } from 'node:test';
import { completeLockfile, type Lockfile } from './complete-lockfile.ts';

it('adds exactly the platform packages that are missing, with the version their owner asks for', () => {
  const known = { version: '1.0.0', optional: true };
  const lock: Lockfile = {
    packages: {
      'node_modules/owner': {
        dev: true,
        optionalDependencies: {
          '@owner/linux-x64-gnu': '1.0.0',
          '@owner/linux-arm64-musl': '1.0.0',
          '@owner/win32-x64': '1.0.0',
          'plain-optional': '2.0.0',
        },
      },
      'node_modules/@owner/linux-x64-gnu': known,
    },
  };
  assert.deepEqual(completeLockfile(lock), ['@owner/linux-arm64-musl', '@owner/win32-x64']);
  assert.deepEqual(lock.packages['node_modules/@owner/linux-arm64-musl'], {
    version: '1.0.0',
    dev: true,
    optional: true,
    os: ['linux'],
    cpu: ['arm64'],
    libc: ['musl'],
  });
  assert.equal(lock.packages['node_modules/@owner/linux-x64-gnu'], known);
  assert.equal(lock.packages['node_modules/plain-optional'], undefined);
  assert.deepEqual(completeLockfile(lock), []);
});
