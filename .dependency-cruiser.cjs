// Who may import whom: the rules come from tools/src/check/import-table.ts. tools/src/check/imports.ts runs them
// and proves that every source file was read.
const { importRules } = require('./tools/src/check/import-rules.ts');

module.exports = {
  forbidden: importRules(),
  options: {
    doNotFollow: { path: 'node_modules' },
    // Built files are not ours to govern.
    exclude: { path: '^[^/]+/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.d.ts', '.json'],
    },
  },
};
