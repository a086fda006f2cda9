// Each rule of tidy has a test of its own; here all are broken in one small tree, and tidy must name each.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { limitMetrics } from '@relay/contract';
import { runCommand } from './check/run-command.ts';
import { smallTree } from './check/small-tree.ts';

const long = '\n'.repeat(401);
const planted: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'file-names': { 'docs/badName.md': '' },
  'file-length': { 'docs/long.md': `#${long}x` },
  readmes: { 'planted/package.json': '{}' },
  'document-paths': { 'docs/paths.md': '`docs/gone.md`' },
  'document-links': { 'docs/links.md': '[x](gone.md)' },
  'document-commands': { 'docs/commands.md': '`relay planted-command`' },
  'machine-traces': { 'docs/traces.md': `/${'home'}/someone/relay` },
  'limit-metrics': { 'cli/src/planted.ts': `export const all = ${JSON.stringify(limitMetrics)};` },
  'ledger-tables': { 'server/src/store/postgres/ledger-tables.ts': 'export const ledgerTables = {};' },
  'migration-names': { 'server/src/store/postgres/migrations/planted.sql': '' },
  alerts: { 'deploy/prometheus/rules.yaml': 'groups: []' },
  'planted-faults': { 'server/src/kit/clock.ts': '' },
  'decision-records': { 'docs/adr/0009-planted.md': '' },
  words: { 'docs/words.md': 'Whoever.' },
  'wire-words': { 'server/src/kit/words.ts': "export const operation = 'embeddings';" },
  figures: { 'server/src/kit/casts.ts': 'export const x = y as z;\n'.repeat(500) },
};

test('tidy applies every rule, and ends with its figures', async () => {
  const files = Object.assign({}, ...Object.values(planted));
  using tree = smallTree(files, ['node_modules', 'contract', 'cli/src/index.ts']);
  const script = join(import.meta.dirname, 'tidy.ts');
  const { ok, output } = await runCommand(process.execPath, [script, `--root=${tree.root}`], tree.root);
  assert.equal(ok, false);
  const lines = output.split('\n');
  for (const [rule, broken] of Object.entries(planted)) {
    for (const path of rule === 'planted-faults' || rule === 'readmes' ? [''] : Object.keys(broken))
      assert.ok(
        lines.some((line) => line.startsWith(path) && line.includes(` ${rule}: `)),
        `${rule}: ${path}`,
      );
  }
  const figures = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
  assert.deepEqual(Object.keys(figures).sort(), [
    'casts',
    'files',
    'production_lines',
    'system_test_lines',
    'tool_lines',
  ]);
});

test('every rule is broken above', async () => {
  const source = await readFile(join(import.meta.dirname, 'tidy.ts'), 'utf8');
  const rules = [...source.matchAll(/^ {4}'?([\w-]+)'?: \(\) =>/gm)].map(([, rule]) => rule);
  assert.deepEqual(rules.sort(), Object.keys(planted).sort());
});
