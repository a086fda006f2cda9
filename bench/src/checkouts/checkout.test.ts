import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { linkDependencies } from './checkout.ts';

describe('the dependencies of another checkout', () => {
  it('are those of this one, except for the packages of the repository itself', () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'relay-bench-test-')));
    try {
      const [home, root] = [join(directory, 'home'), join(directory, 'root')];
      for (const path of [
        'node_modules/pino',
        'node_modules/@relay/server',
        'node_modules/@relay/added',
        'cli/node_modules',
      ])
        mkdirSync(join(home, path), { recursive: true });
      for (const path of ['server', 'cli']) mkdirSync(join(root, path), { recursive: true });
      linkDependencies(home, root);
      const target = (path: string) => realpathSync(join(root, path));
      assert.equal(target('node_modules/pino'), join(home, 'node_modules/pino'));
      assert.equal(target('node_modules/@relay/server'), join(root, 'server'));
      assert.equal(target('cli/node_modules'), join(home, 'cli/node_modules'));
      assert.throws(() => target('node_modules/@relay/added'));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
