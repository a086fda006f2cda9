// Every import rule is broken once in one small tree, and the check must name each.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { importRules } from './check/import-rules.ts';
import { type FolderTable, folderTables, memberTable } from './check/import-table.ts';
import { checkImports } from './check/imports.ts';
import { smallTree } from './check/small-tree.ts';

/** A file that imports another against the rule. A folder stands for a file planted in it. */
type Planted = readonly [rule: string, from: string, to: string];

const planted: readonly Planted[] = [
  ...folderTables.flatMap(againstFolders),
  ...Object.entries(memberTable).flatMap(againstMembers),
  ['member-by-its-entry', 'cli/src/kit', 'server/src/main'],
  ['journal-by-its-entry', 'server/src/main', 'server/src/metering/journal'],
  ['journal-by-its-entry', 'server/src/metering', 'server/src/metering/journal'],
  ['tests-are-leaves', 'tools/src/check', 'tools/src/planted.test.ts'],
  ['fixtures-are-for-tests', 'tools/src/check', 'tools/src/planted.fixture.ts'],
  ['no-circular', 'tools/src/planted-a.ts', 'tools/src/planted-b.ts'],
  ['no-circular', 'tools/src/planted-b.ts', 'tools/src/planted-a.ts'],
  ['no-unresolvable', 'tools/src/dev', './planted-nowhere.ts'],
];

/** Each folder imports one that its row does not name, a file beside the folders one of them, and so on. */
function againstFolders({ at, name, rows, shared, above, complete }: FolderTable): Planted[] {
  const folders = Object.keys(rows);
  const [free = 'planted-b'] = folders.filter((folder) => !shared.includes(folder));
  return [
    ...Object.entries(rows).flatMap(([folder, allowed]): Planted[] => {
      const others = allowed.includes('.*') ? above : [...folders, ...above, 'planted-b'];
      const other = others.find((each) => each !== folder && !allowed.includes(each));
      // Nothing is above `main`.
      return other === undefined ? [] : [[`${name}-${folder}`, `${at}/${folder}`, `${at}/${other}`]];
    }),
    [`${name}-below`, at, `${at}/${free}`],
    ...(complete
      ? ([[`${name}-unlisted`, `${at}/planted`, `${at}/planted-b`]] as const)
      : ['planted-b', ...above].map((to): Planted => [`${name}-siblings`, `${at}/planted-a`, `${at}/${to}`])),
  ];
}

function againstMembers([member, allowed]: readonly [string, readonly string[]]): Planted[] {
  const mine = [member, ...allowed];
  const of = (names: readonly string[]) =>
    `${Object.keys(memberTable).find((each) => !names.includes(each))}/src/index.ts`;
  const production: Planted = [`member-${member}`, `${member}/src`, of(mine)];
  if (!importRules().some(({ name }) => name === `member-${member}-tests`)) return [production];
  return [production, [`member-${member}-tests`, `${member}/src/planted.test.ts`, of([...mine, 'testbed'])]];
}

/** Planted without an import, so it has no arrow to report. */
const ORPHAN = 'tools/src/planted-orphan.ts';

let output = '';

before(async () => {
  const imports = new Map<string, string[]>([
    [ORPHAN, []],
    ['tools/src/planted.fixture.ts', []],
  ]);
  for (const [, from, to] of planted) {
    imports.set(importer(from), [...(imports.get(importer(from)) ?? []), target(to)]);
    if (!to.startsWith('.') && !imports.has(target(to))) imports.set(target(to), []);
  }
  const files = [...imports].map(([file, targets]) => [file, textOf(file, targets)] as const);
  const linked = ['node_modules', '.dependency-cruiser.cjs', 'tsconfig.json'];
  using tree = smallTree(Object.fromEntries(files), linked);
  const result = await checkImports(tree.root);
  assert.equal(result.ok, false);
  output = `${result.output}\n`;
});

for (const [rule, from, to] of planted) {
  test(`${rule}: ${from} may not import ${to}`, () => {
    // A cycle is reported once, from one of its two sides.
    const lines = [`${rule}: ${importer(from)} → ${target(to)}\n`];
    if (rule === 'no-circular') lines.push(`${rule}: ${target(to)} → ${importer(from)}\n`);
    assert.ok(
      lines.some((line) => output.includes(line)),
      linesOf(rule),
    );
  });
}

test('a module that nothing imports and that imports nothing is refused', () => {
  assert.ok(output.includes(`no-orphans: ${ORPHAN}`), output);
});

test('an import that runs back within a module is refused, and every file was read', () => {
  assert.match(output, /^layers: server\/src\/store\/\S+ → \S+ lies on a cycle$/m);
  assert.doesNotMatch(output, /source files/);
});

test('every rule has its planted violation', () => {
  const broken = new Set([...planted.map(([rule]) => rule), 'no-orphans', 'module-main']);
  assert.deepEqual(
    importRules()
      .map(({ name }) => name)
      .filter((name) => !broken.has(name)),
    [],
  );
});

test('an import check that reads no file fails instead of passing', async () => {
  // What dependency-cruiser does by itself when it finds no TypeScript that it can drive.
  const nothing = 'console.log(JSON.stringify({ modules: [], summary: { violations: [] } }));\n';
  using tree = smallTree({
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs': nothing,
    'tools/src/planted.ts': textOf('tools/src/planted.ts', []),
  });
  const { ok, output: said } = await checkImports(tree.root);
  assert.equal(ok, false);
  assert.match(said, /the import check read 0 of 1 source files/);
});

/** What the check said about one rule. */
function linesOf(rule: string): string {
  return output
    .split('\n')
    .filter((line) => line.startsWith(rule))
    .join('\n');
}

function hasExtension(path: string): boolean {
  return /\.tsx?$/.test(path);
}

function importer(from: string): string {
  return hasExtension(from) ? from : `${from}/planted.ts`;
}

function target(to: string): string {
  return hasExtension(to) ? to : `${to}/planted-target.ts`;
}

function textOf(file: string, targets: readonly string[]): string {
  const up = '../'.repeat(file.split('/').length - 1);
  const lines = targets.map((path) => `import '${path.startsWith('.') ? path : `${up}${path}`}';\n`);
  return `export const planted = 1;\n${lines.join('')}`;
}
