import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { changeOf, withRelease } from './release-section.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CHANGELOG = '# Changelog\n\nThe format.\n\n## [0.1.0] - 2026-11-19\n\nFirst.\n';

test('a release gets its section above the earlier ones, by kind', () => {
  const changes = [
    changeOf('fixed-wait.md', 'A wait ends\nin time.\n'),
    changeOf('added-keys.md', 'Keys have [names](../docs/guides/keys.md).\n'),
  ];
  assert.equal(
    withRelease(CHANGELOG, '0.2.0', '2026-12-01', changes),
    '# Changelog\n\nThe format.\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- Keys have [names](docs/guides/keys.md).\n\n### Fixed\n\n' +
      '- A wait ends in time.\n\n## [0.1.0] - 2026-11-19\n\nFirst.\n',
  );
});

test('a release without changes, a second one of the same version and a changelog without sections are rejected', () => {
  const changes = [changeOf('added-keys.md', 'Keys have names.')];
  assert.throws(() => withRelease(CHANGELOG, '0.2.0', '2026-12-01', []), /empty/);
  assert.throws(() => withRelease(CHANGELOG, '0.1.0', '2026-12-01', changes), /already/);
  assert.throws(() => withRelease('# Changelog\n', '0.1.0', '2026-12-01', changes), /no section/);
});

test('a file without a kind, without text or with a list of its own is rejected', () => {
  assert.throws(() => changeOf('keys.md', 'Keys.'), /must be named/);
  assert.throws(() => changeOf('added-keys.txt', 'Keys.'), /must be named/);
  assert.throws(() => changeOf('added-keys.md', ' \n'), /sentences/);
  assert.throws(() => changeOf('added-keys.md', '- Keys.'), /sentences/);
});

test('the repository has only changes that a release can take, and a changelog that can take them', () => {
  const folder = join(ROOT, 'changes');
  const names = readdirSync(folder).filter((name) => name !== 'README.md');
  const changes = names.map((name) => changeOf(name, readFileSync(join(folder, name), 'utf8')));
  const one = changeOf('added-it.md', 'It.');
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  assert.match(withRelease(changelog, '999.0.0', '2026-12-01', [...changes, one]), /^- It\.$/m);
});
