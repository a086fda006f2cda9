import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { demandNamed, partsIn } from './parts.ts';

const notices = '# Licenses\n\n## pg - 8.1.0 (MIT)\n\nText.\n\n## @a/b - 1.0.0-beta.1 (MIT OR ISC)\n';
const file = (path: string) => `import "x";\n// ${path}\nconst one = 1;\n`;

describe('the parts of the package', () => {
  it('are the headings of the notices', () => {
    assert.deepEqual(partsIn(notices), [
      { name: 'pg', version: '8.1.0' },
      { name: '@a/b', version: '1.0.0-beta.1' },
    ]);
  });

  it('are all named', () => {
    demandNamed([file('node_modules/pg/lib/index.js'), file('cli/node_modules/@a/b/x.mjs')], notices);
  });

  it('are refused when the bundle has code of another package', () => {
    const nested = file('node_modules/pg/node_modules/split2/index.js');
    assert.throws(() => demandNamed([nested], notices), /has code of split2, which no notice names/);
  });

  it('are refused when the bundle does not say where its code is from', () => {
    assert.throws(() => demandNamed(['const one=1;'], notices), /does not say/);
  });
});
