// Every import rule is broken once in one small tree, and the check must name each.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { importRules } from './check/import-rules.ts';
import { checkImports } from './check/imports.ts';
import { smallTree } from './check/small-tree.ts';

/** A file that imports another against the rule. A folder stands for a file planted in it. */
type Planted = readonly [rule: string, from: string, to: string];

const planted: readonly Planted[] = [
  ['module-kit', 'server/src/kit', 'server/src/domain'],
  ['module-domain', 'server/src/domain', 'server/src/store'],
  ['module-protocols', 'server/src/protocols', 'server/src/http'],
  ['module-store', 'server/src/store', 'server/src/http'],
  ['module-http', 'server/src/http', 'server/src/store'],
  ['module-admission', 'server/src/admission', 'server/src/protocols'],
  ['module-guardrails', 'server/src/guardrails', 'server/src/protocols'],
  ['module-mail', 'server/src/mail', 'server/src/store'],
  ['module-edge', 'server/src/edge', 'server/src/inference'],
  ['module-inference', 'server/src/inference', 'server/src/management'],
  ['module-management', 'server/src/management', 'server/src/edge'],
  ['module-metering', 'server/src/metering', 'server/src/admission'],
  ['module-alerts', 'server/src/alerts', 'server/src/management'],
  ['module-below', 'server/src', 'server/src/kit'],
  ['module-unlisted', 'server/src/planted', 'server/src/kit'],

  ['store-postgres', 'server/src/store/postgres', 'server/src/store/embedded'],
  ['store-redis', 'server/src/store/redis', 'server/src/store/postgres'],
  ['store-configuration', 'server/src/store/configuration', 'server/src/store/keys'],
  ['store-ledger', 'server/src/store/ledger', 'server/src/store/configuration'],
  ['store-keys', 'server/src/store/keys', 'server/src/store/ledger'],
  ['store-alerts', 'server/src/store/alerts', 'server/src/store/ledger'],
  ['store-embedded', 'server/src/store/embedded', 'server/src/store/redis'],
  ['store-below', 'server/src/store', 'server/src/store/redis'],
  ['store-unlisted', 'server/src/store/planted', 'server/src/store/postgres'],

  ['step-receive', 'server/src/inference/receive', 'server/src/inference/route'],
  ['step-route', 'server/src/inference/route', 'server/src/inference/guard'],
  ['step-guard', 'server/src/inference/guard', 'server/src/inference/admit'],
  ['step-admit', 'server/src/inference/admit', 'server/src/inference/attempt.ts'],
  ['step-dispatch', 'server/src/inference/dispatch', 'server/src/inference/respond'],
  ['step-respond', 'server/src/inference/respond', 'server/src/inference/settle'],
  ['step-settle', 'server/src/inference/settle', 'server/src/inference/receive'],
  ['step-below', 'server/src/inference/exchange.ts', 'server/src/inference/route'],
  ['step-unlisted', 'server/src/inference/planted', 'server/src/inference/exchange.ts'],

  ['feature-resources', 'server/src/management/resources', 'server/src/management/lanes'],
  ['feature-registry', 'server/src/management/registry', 'server/src/management/index.ts'],
  ['feature-config-file', 'server/src/management/config-file', 'server/src/management/lanes'],
  ['feature-dry-run', 'server/src/management/dry-run', 'server/src/management/lanes'],
  ['feature-routing-explanation', 'server/src/management/routing-explanation', 'server/src/management/lanes'],
  ['feature-what-if', 'server/src/management/what-if', 'server/src/management/lanes'],
  ['feature-siblings', 'server/src/management/lanes', 'server/src/management/billing'],
  ['feature-siblings', 'server/src/management/lanes', 'server/src/management/index.ts'],
  ['feature-below', 'server/src/management', 'server/src/management/lanes'],

  ['console-text', 'console/src/text', 'console/src/ui'],
  ['console-format', 'console/src/format', 'console/src/text'],
  ['console-api', 'console/src/api', 'console/src/session'],
  ['console-errors', 'console/src/errors', 'console/src/text'],
  ['console-ui', 'console/src/ui', 'console/src/api'],
  ['console-forms', 'console/src/forms', 'console/src/session'],
  ['console-time-range', 'console/src/time-range', 'console/src/api'],
  ['console-address', 'console/src/address', 'console/src/time-range'],
  ['console-session', 'console/src/session', 'console/src/app'],
  ['console-parts', 'console/src/parts', 'console/src/pages/keys'],
  ['console-pages', 'console/src/pages/keys', 'console/src/app'],
  ['console-app', 'console/src/app', 'console/src/main.tsx'],
  ['console-below', 'console/src', 'console/src/app'],
  ['console-unlisted', 'console/src/planted', 'console/src/ui'],
  ['page-siblings', 'console/src/pages/keys', 'console/src/pages/lanes'],
  ['page-below', 'console/src/pages', 'console/src/pages/lanes'],

  ['command-kit', 'cli/src/kit', 'cli/src/output'],
  ['command-output', 'cli/src/output', 'cli/src/api'],
  ['command-session', 'cli/src/session', 'cli/src/api'],
  ['command-api', 'cli/src/api', 'cli/src/keys'],
  ['command-sources', 'cli/src/sources', 'cli/src/keys'],
  ['command-siblings', 'cli/src/keys', 'cli/src/doctor'],
  ['command-siblings', 'cli/src/keys', 'cli/src/commands.ts'],
  ['command-below', 'cli/src', 'cli/src/keys'],

  ['suite-harness', 'system-tests/src/harness', 'system-tests/src/streams'],
  ['suite-siblings', 'system-tests/src/aborts', 'system-tests/src/streams'],
  ['suite-below', 'system-tests/src', 'system-tests/src/streams'],

  ['member-contract', 'contract/src', 'server/src/main'],
  ['member-server', 'server/src/kit', 'cli/src/index.ts'],
  ['member-console', 'console/src/api', 'server/src/main/index.ts'],
  ['member-cli', 'cli/src/kit', 'console/src/main.tsx'],
  ['member-provider-sim', 'provider-sim/src', 'server/src/main'],
  ['member-testbed', 'testbed/src', 'contract/src/index.ts'],
  ['member-system-tests', 'system-tests/src/harness', 'server/src/main'],
  ['member-bench', 'bench/src', 'server/src/main'],
  ['member-tools', 'tools/src', 'provider-sim/src/index.ts'],
  ['member-site', 'site/src', 'server/src/main'],
  ['member-server-tests', 'server/src/kit/planted.test.ts', 'cli/src/index.ts'],
  ['member-console-tests', 'console/src/api/planted.test.ts', 'server/src/main/index.ts'],
  ['member-cli-tests', 'cli/src/kit/planted.test.ts', 'console/src/main.tsx'],
  ['member-testbed-tests', 'testbed/src/planted.test.ts', 'contract/src/index.ts'],
  ['member-system-tests-tests', 'system-tests/src/harness/planted.test.ts', 'server/src/main'],
  ['member-bench-tests', 'bench/src/planted.test.ts', 'server/src/main'],
  ['member-tools-tests', 'tools/src/planted.test.ts', 'bench/src/run.ts'],
  ['member-site-tests', 'site/src/planted.test.ts', 'bench/src/run.ts'],
  ['member-by-its-entry', 'cli/src/kit', 'server/src/main'],

  ['journal-by-its-entry', 'server/src/main', 'server/src/metering/journal'],
  ['journal-by-its-entry', 'server/src/metering', 'server/src/metering/journal'],

  ['tests-are-leaves', 'tools/src/check', 'tools/src/planted.test.ts'],
  ['fixtures-are-for-tests', 'tools/src/check', 'tools/src/planted.fixture.ts'],
  ['no-circular', 'tools/src/planted-a.ts', 'tools/src/planted-b.ts'],
  ['no-circular', 'tools/src/planted-b.ts', 'tools/src/planted-a.ts'],
  ['no-unresolvable', 'tools/src/dev', './planted-nowhere.ts'],
];

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
  assert.match(
    output,
    /^layers: server\/src\/store\/postgres → server\/src\/store\/embedded lies on a cycle$/m,
  );
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
