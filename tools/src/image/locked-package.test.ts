import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockedPackage } from './locked-package.ts';

const lock = {
  packages: {
    '': {},
    'cli/node_modules/one': { version: '2.0.0' },
    'node_modules/one': { version: '1.0.0', dev: true },
    'node_modules/@a/two': {
      version: '3.1.0',
      dependencies: { three: '^1.0.0' },
      optionalDependencies: { none: '1.0.0' },
    },
    'node_modules/three': { version: '1.9.0' },
    'node_modules/@a/two/node_modules/three': { version: '1.5.0', dependencies: { one: '^1.0.0' } },
    'node_modules/unused': { version: '1.0.0' },
  },
};
const named = { name: 'p', version: '0.1.0' };
const packagesOf = (dependencies: Record<string, string>) => {
  const locked = lockedPackage(lock, { ...named, dependencies }, 'https://packages.example');
  return locked['packages'] as Record<string, { version: string; resolved: string }>;
};

describe('the lockfile of the package', () => {
  it('has what its dependencies lead to, as the repository resolves it, and nothing else', () => {
    const packages = packagesOf({ '@a/two': '3.1.0' });
    assert.deepEqual(
      Object.entries(packages).map(([place, { version }]) => [place, version]),
      [
        ['', '0.1.0'],
        ['node_modules/@a/two', '3.1.0'],
        ['node_modules/@a/two/node_modules/three', '1.5.0'],
        ['node_modules/one', '1.0.0'],
      ],
    );
    assert.equal(
      packages['node_modules/@a/two']?.resolved,
      'https://packages.example/@a/two/-/two-3.1.0.tgz',
    );
    assert.equal('dev' in (packages['node_modules/one'] ?? {}), false);
  });

  it('takes the version of the member that has its own', () => {
    assert.equal(packagesOf({ one: '2.0.0' })['node_modules/one']?.version, '2.0.0');
  });

  it('is refused when a version is not in the lockfile, and when two are wanted at one place', () => {
    assert.throws(() => packagesOf({ one: '9.0.0' }), /has no one 9\.0\.0/);
    assert.throws(() => packagesOf({ one: '2.0.0', '@a/two': '3.1.0' }), /two versions: 2\.0\.0 and 1\.0\.0/);
  });
});
