import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sbomOf } from './sbom.ts';

const integrity = `sha512-${Buffer.from('hash').toString('base64')}`;
const lock = {
  packages: {
    'cli/node_modules/@a/b': { version: '1.0.0', integrity, license: 'MIT' },
    'node_modules/@a/b': { version: '2.0.0', integrity, license: 'ISC' },
    'node_modules/store': { version: '3.0.0', integrity, license: '(MIT OR ISC)' },
    'node_modules/deep': { version: '1.0.0', integrity, license: 'MIT', dependencies: { store: '3.0.0' } },
    'node_modules/bare': { version: '1.0.0', integrity },
  },
};
const product = { name: 'p', version: '0.1.0', license: 'Apache-2.0' };
const input = { product, contained: [], dependencies: [], lock };

describe('the SBOM', () => {
  it('names each part with its version, hash and license', () => {
    const contained = [{ name: '@a/b', version: '1.0.0' }];
    const dependencies = [{ name: 'store', version: '3.0.0' }];
    const { metadata, components } = sbomOf({ ...input, contained, dependencies });
    assert.partialDeepStrictEqual(metadata, { component: { type: 'application', purl: 'pkg:npm/p@0.1.0' } });
    const hashes = [{ alg: 'SHA-512', content: '68617368' }];
    assert.deepEqual(components, [
      {
        type: 'library',
        'bom-ref': '@a/b@1.0.0',
        name: '@a/b',
        version: '1.0.0',
        purl: 'pkg:npm/%40a/b@1.0.0',
        scope: 'required',
        hashes,
        licenses: [{ license: { id: 'MIT' } }],
      },
      {
        type: 'library',
        'bom-ref': 'store@3.0.0',
        name: 'store',
        version: '3.0.0',
        purl: 'pkg:npm/store@3.0.0',
        scope: 'optional',
        hashes,
        licenses: [{ expression: '(MIT OR ISC)' }],
      },
    ]);
  });

  it('is refused for a part that the lockfile does not have', () => {
    const contained = [{ name: '@a/b', version: '3.0.0' }];
    assert.throws(() => sbomOf({ ...input, contained }), /@a\/b@3\.0\.0 ships, but is not in the lockfile/);
  });

  it('is refused for a part without a license', () => {
    const contained = [{ name: 'bare', version: '1.0.0' }];
    assert.throws(() => sbomOf({ ...input, contained }), /no license of bare@1\.0\.0/);
  });

  it('is refused for a dependency that brings others', () => {
    const dependencies = [{ name: 'deep', version: '1.0.0' }];
    assert.throws(() => sbomOf({ ...input, dependencies }), /deep has dependencies/);
  });
});
