// `npm run tidy`: style as failing rules over the whole tree. Each rule is a pure function in tidy/, with its own test.
import { join } from 'node:path';
import { alerts } from './tidy/alerts.ts';
import { decisionRecords } from './tidy/decision-records.ts';
import { documentCommands } from './tidy/document-commands.ts';
import { documentLinks } from './tidy/document-links.ts';
import { documentPaths } from './tidy/document-paths.ts';
import { measure } from './tidy/figures.ts';
import { fileLength } from './tidy/file-length.ts';
import { fileNames } from './tidy/file-names.ts';
import { ledgerTables } from './tidy/ledger-tables.ts';
import { limitMetrics } from './tidy/limit-metrics.ts';
import { machineTraces } from './tidy/machine-traces.ts';
import { migrationNames } from './tidy/migrations.ts';
import { plantedFaults } from './tidy/planted-faults.ts';
import { readCommands, readContract, readTree } from './tidy/read-tree.ts';
import { readmes } from './tidy/readmes.ts';
import { type Finding, sayFinding } from './tidy/tree.ts';
import { wireWords } from './tidy/wire-words.ts';
import { bannedWords } from './tidy/words.ts';

const USAGE = `usage: npm run tidy [-- --list]
Prints one finding per line, and the figures as one JSON object on its last line:
  files              .ts and .tsx files of server, console, cli and contract; no tests, fixtures, generated files
  production_lines   their lines
  system_test_lines  lines of all .ts files of system-tests
  tool_lines         lines of all .ts files of tools
  casts              \`as\` expressions of production code other than \`as const\`
--list prints every cast, even within the bound.
`;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const root = args.find((arg) => arg.startsWith('--root='))?.slice(7) ?? join(import.meta.dirname, '../..');
  const tree = readTree(root);
  const contract = await readContract(root);
  const commands = await readCommands(root);
  const measured = measure(tree);
  const rules: Readonly<Record<string, () => readonly Finding[]>> = {
    'file-names': () => fileNames(tree),
    'file-length': () => fileLength(tree),
    readmes: () => readmes(tree),
    'document-paths': () => documentPaths(tree),
    'document-links': () => documentLinks(tree),
    'document-commands': () => documentCommands(tree, commands),
    'machine-traces': () => machineTraces(tree),
    'limit-metrics': () => limitMetrics(tree, contract.limitMetrics),
    'ledger-tables': () => ledgerTables(tree),
    'migration-names': () => migrationNames(tree),
    alerts: () => alerts(tree),
    'planted-faults': () => plantedFaults(tree),
    'decision-records': () => decisionRecords(tree),
    words: () => bannedWords(tree),
    'wire-words': () => wireWords(tree),
    figures: () => measured.findings,
  };
  let count = 0;
  for (const [rule, find] of Object.entries(rules)) {
    const findings = find();
    count += findings.length;
    for (const finding of findings) process.stdout.write(sayFinding(rule, finding));
  }
  if (args.includes('--list')) {
    for (const detail of measured.casts) process.stdout.write(sayFinding('listed', detail));
  }
  process.stdout.write(
    `tidy: ${tree.files.length} files, ${count} findings\n${JSON.stringify(measured.figures)}\n`,
  );
  return count === 0 && tree.files.length > 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
