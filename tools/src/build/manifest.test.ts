import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packageManifest } from './manifest.ts';

const server = {
  name: 's',
  version: '0.1.0',
  dependencies: { pg: '8.1.0', '@a/b': '1.0.0', unused: '1.0.0' },
};
const parts = {
  template: { name: 'relay-gateway', license: 'MIT' },
  version: '2.0.0',
  engines: { node: '>=24' },
};

describe('the published manifest', () => {
  it('depends on exactly what the bundle imports, in the versions of the members', () => {
    const imports = ['node:fs', 'pg', '@a/b/part', 'fs/promises', 'pg'];
    assert.deepEqual(packageManifest({ ...parts, members: [server], imports }), {
      name: 'relay-gateway',
      license: 'MIT',
      version: '2.0.0',
      engines: { node: '>=24' },
      dependencies: { '@a/b': '1.0.0', pg: '8.1.0' },
    });
  });

  it('is refused when an import is nobody’s dependency', () => {
    assert.throws(
      () => packageManifest({ ...parts, members: [server], imports: ['left-pad/index.js'] }),
      /"left-pad", which no bundled member depends on/,
    );
  });

  it('is refused when two members want different versions', () => {
    const cli = { name: 'c', version: '0.1.0', dependencies: { pg: '8.2.0' } };
    assert.throws(
      () => packageManifest({ ...parts, members: [server, cli], imports: ['pg'] }),
      /two versions/,
    );
  });

  it('is refused when a version is a range', () => {
    const loose = { name: 'l', version: '0.1.0', dependencies: { pg: '^8.1.0' } };
    assert.throws(() => packageManifest({ ...parts, members: [loose], imports: ['pg'] }), /no exact version/);
  });
});
