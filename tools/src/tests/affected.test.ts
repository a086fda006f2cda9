import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { affectedJobs } from './affected.ts';
import { allJobs } from './jobs.ts';
import { readModuleGraph } from './module-graph.ts';

const ROOT = join(import.meta.dirname, '../../..');
const graph = readModuleGraph(ROOT);
const jobs = allJobs(ROOT, { onPackage: true, isLong: false });
const affected = (...changed: string[]) => affectedJobs(ROOT, jobs, changed, graph).map(({ name }) => name);

test('a change of a document runs no test of the server', () => {
  const names = affected('docs/guides/limits.md');
  assert.ok(names.includes('check tidy') && names.includes('check site'), names.join(', '));
  assert.deepEqual(
    names.filter((name) => /^(unit|db|system|e2e) /.test(name)),
    [],
  );
});

test('a change of a document runs the tests that read it, and a README beside modules none of theirs', () => {
  assert.ok(affected('docs/guides/alerts.md').includes('unit server/src/alerts'));
  assert.ok(affected('docs/clients/curl.md').includes('system first-use'));
  assert.deepEqual(
    affected('server/src/mail/README.md').filter((name) => !name.startsWith('check ')),
    [],
  );
});

test('a change of what operators copy runs the suite that tries it', () => {
  assert.ok(affected('deploy/compose/haproxy.cfg').includes('system operate'));
});

test('a change of the console runs its unit tests and the stories in a browser, and no suite of the server', () => {
  const names = affected('console/src/main.tsx');
  assert.ok(names.includes('e2e first 1') && names.includes('build package'), names.join(', '));
  assert.deepEqual(
    names.filter((name) => /^(db|system) /.test(name)),
    [],
  );
});

test('a change deep in the server runs every suite and only the unit tests that import it', () => {
  const names = affected('server/src/domain/money/bound-usage.ts');
  assert.ok(names.includes('system prices') && names.includes('unit server/src/domain'), names.join(', '));
  assert.ok(!names.includes('unit server/src/mail'), names.join(', '));
});

test('a change of a Lua script reaches the tests of the modules that read its folder', () => {
  const names = affected('server/src/admission/redis/script/batch.lua');
  assert.ok(names.includes('db server/src/admission 1'), names.join(', '));
});

test('a change of a suite runs that suite, and a change of the lockfile everything', () => {
  assert.deepEqual(
    affected('system-tests/src/line/line.suite.ts').filter((name) => name.startsWith('system ')),
    ['system line'],
  );
  assert.equal(affected('package-lock.json').length, jobs.length);
});
