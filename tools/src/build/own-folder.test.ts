import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeInBundle, refuseSelf } from './own-folder.ts';

describe('a module that looks for what is its own', () => {
  it('finds files of its folder at the same path below the bundle', () => {
    const code = "export const directory = join(import.meta.dirname, 'migrations');";
    assert.deepEqual(placeInBundle(code, 'server/src/store/postgres/migrate.ts'), {
      code: 'export const directory = join((import.meta.dirname + "/server/src/store/postgres"), \'migrations\');',
      workers: [],
      readsFolder: true,
    });
  });

  it('finds a worker beside it at the top of the bundle', () => {
    const code = "const file = new URL(\n  './engine-worker.ts',\n  import.meta.url,\n);";
    assert.deepEqual(placeInBundle(code, 'server/src/store/engine.ts'), {
      code: "const file = new URL('./engine-worker.js', import.meta.url);",
      workers: ['engine-worker'],
      readsFolder: false,
    });
  });

  it('is left alone when there is nothing', () => {
    assert.equal(placeInBundle('export const one = 1;', 'server/src/kit/one.ts'), null);
    assert.equal(placeInBundle('if (import.meta.main) run();', 'server/src/kit/one.ts'), null);
  });

  it('is refused when it looks in a way that the bundle cannot keep', () => {
    for (const name of ['url', 'filename', 'resolve'])
      assert.throws(() => placeInBundle(`use(import.meta.${name});`, 'cli/src/x.ts'), /cli\/src\/x\.ts uses/);
  });
});

describe('a module of others', () => {
  it('is refused when it looks for files beside it', () => {
    for (const code of [
      'join(__dirname, "a.wasm")',
      'new URL("a", import.meta.url)',
      'require.resolve("./a")',
    ])
      assert.throws(() => refuseSelf(code, 'node_modules/a/b.js'), /a\/b\.js uses/);
  });

  it('may speak of it, and may do it where that is harmless', () => {
    refuseSelf('/* see\n * import.meta.url */\n // __dirname\nrun();', 'node_modules/a/b.js');
    refuseSelf('typeof __filename', 'server/node_modules/undici/index.js');
  });
});
