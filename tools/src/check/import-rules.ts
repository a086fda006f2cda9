import { type FolderTable, folderTables, memberTable } from './import-table.ts';

/** A rule as dependency-cruiser reads it. */
export interface ImportRule {
  readonly name: string;
  readonly comment: string;
  readonly severity: 'error';
  readonly from: RuleEnd & { readonly orphan?: true };
  readonly to: RuleEnd & { readonly circular?: true; readonly couldNotResolve?: true };
}

interface RuleEnd {
  readonly path?: string;
  readonly pathNot?: string | readonly string[];
}

const isTest = '\\.test\\.tsx?$';
/** Setup shared by several tests; treated as a test, except that tests may import it. */
const isFixture = '(\\.|/)fixture\\.ts$';
const forTests = `(${isTest}|${isFixture})`;
const anyMember = `^(${Object.keys(memberTable).join('|')})/`;

export function importRules(): readonly ImportRule[] {
  return [
    ...folderTables.flatMap(folderRules),
    ...Object.entries(memberTable).flatMap(memberRules),
    ...generalRules(),
  ];
}

function folderRules(table: FolderTable): ImportRule[] {
  const { at, name, above, rows, complete, shared } = table;
  const exempt = table.testsToo === true ? [] : [forTests];
  const folders = (names: readonly string[]): string[] => names.map((folder) => `^${at}/${folder}/`);
  const below = `^${at}/(?!(${above.join('|').replaceAll('.', '\\.')})$)[^/]+$`;
  const listed = Object.keys(rows);
  return [
    ...Object.entries(rows).map(([folder, allowed]) =>
      rule(
        `${name}-${folder}`,
        `${at}/${folder} may import ${allowed.join(', ') || 'no other folder of it'}.`,
        {
          from: { path: `^${at}/${folder}/`, pathNot: exempt },
          to: { path: `^${at}/`, pathNot: [...folders([folder, ...allowed]), below] },
        },
      ),
    ),
    rule(
      `${name}-below`,
      `Files in ${at} that its folders import may import ${shared.join(', ') || 'none of the folders'}.`,
      {
        from: { path: below, pathNot: forTests },
        to: { path: `^${at}/`, pathNot: [...folders(shared), below] },
      },
    ),
    complete
      ? rule(`${name}-unlisted`, `Every folder of ${at} has a row in tools/src/check/import-table.ts.`, {
          from: { path: `^${at}/[^/]+/`, pathNot: [...folders(listed), isFixture] },
          to: {},
        })
      : rule(
          `${name}-siblings`,
          `Folders of ${at} may import ${shared.join(', ') || 'no other folder of it'}.`,
          {
            from: { path: `^${at}/([^/]+)/`, pathNot: [...folders(listed), ...exempt] },
            to: { path: `^${at}/`, pathNot: [`^${at}/$1/`, ...folders(shared), below] },
          },
        ),
  ];
}

function memberRules([member, allowed]: readonly [string, readonly string[]]): ImportRule[] {
  const only = (names: readonly string[]): RuleEnd => ({
    path: anyMember,
    pathNot: `^(${[member, ...names].join('|')})/`,
  });
  const production = rule(
    `member-${member}`,
    `${member} may import ${allowed.join(', ') || 'no other member'}.`,
    {
      from: { path: `^${member}/`, pathNot: forTests },
      to: only(allowed),
    },
  );
  if (member === 'contract' || member === 'provider-sim') return [production];
  // Tests may also use the testbed, which only tests need.
  const tests = [...allowed, 'testbed'];
  return [
    production,
    rule(`member-${member}-tests`, `Tests of ${member} may import ${tests.join(', ')}.`, {
      from: { path: `^${member}/.*${forTests}` },
      to: only(tests),
    }),
  ];
}

function generalRules(): ImportRule[] {
  return [
    rule('member-by-its-entry', 'Members are imported by package name, through their entry alone.', {
      from: { path: '^([^/]+)/' },
      to: {
        path: anyMember,
        pathNot: [
          '^$1/',
          '^server/src/main/index\\.ts$',
          '^server/src/management/config-file/text/index\\.ts$',
          '^server/src/store/embedded/empty-database\\.ts$',
          '^[^/]+/src/index\\.ts$',
          '^contract/openapi\\.json$',
          '^testbed/src/(long-form|random|run-command|seed-fast-check)\\.ts$',
          '^contract/src/(api-types|errors|(client|config-text|price-list|specification|words)/index)\\.ts$',
        ],
      },
    }),
    rule('journal-by-its-entry', 'Other modules know the journal by its entry; tests of metering open it.', {
      from: {
        path: '^server/src/',
        pathNot: ['^server/src/metering/journal/', `^server/src/metering/.*${forTests}`],
      },
      to: { path: '^server/src/metering/journal/', pathNot: '^server/src/metering/journal/index\\.ts$' },
    }),
    rule('tests-are-leaves', 'Nothing imports a test.', { from: {}, to: { path: isTest } }),
    rule('fixtures-are-for-tests', 'Only tests and other fixtures import a fixture.', {
      from: { pathNot: forTests },
      to: { path: isFixture },
    }),
    rule('no-circular', 'No import cycles, type imports included.', { from: {}, to: { circular: true } }),
    rule('no-orphans', 'Every module imports something or is imported.', {
      from: {
        orphan: true,
        pathNot: [
          forTests,
          '^[^/]+/src/(main|index)\\.ts$',
          '^[^/]+/bin/',
          '^console/public/',
          // Given to Node and to oxlint by their paths.
          '^tools/src/(tests/(leave-at-once|result-lines)|check/restricted-syntax)\\.ts$',
        ],
      },
      to: {},
    }),
    rule('no-unresolvable', 'Every import resolves.', { from: {}, to: { couldNotResolve: true } }),
  ];
}

function rule(name: string, comment: string, { from, to }: Pick<ImportRule, 'from' | 'to'>): ImportRule {
  return { name, comment, severity: 'error', from, to };
}
