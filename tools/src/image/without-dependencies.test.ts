import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutDependencies } from './without-dependencies.ts';

const published = { name: 'p', version: '0.1.0', license: 'MIT', engines: { node: '>=24' } };
const embedded = { '@electric-sql/pglite': '1.0.0' };

describe('the manifest of the image', () => {
  it('does not name the embedded database', () => {
    const manifest = withoutDependencies({ ...published, dependencies: embedded });
    assert.deepEqual(manifest, { ...published, dependencies: {} });
  });

  it('is refused when the package needs something else that is not in it', () => {
    const dependencies = { ...embedded, pg: '8.0.0' };
    assert.throws(() => withoutDependencies({ ...published, dependencies }), /the image would lack pg/);
  });
});
