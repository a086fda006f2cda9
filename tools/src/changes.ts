// `npm run changes -- VERSION`: moves what changes/ holds into CHANGELOG.md, as the section of a release.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, UsageError } from '@relay/testbed';
import { type Change, changeOf, withRelease } from './changes/release-section.ts';

const USAGE = `usage: npm run changes -- VERSION
Writes the section of VERSION into CHANGELOG.md from the files in changes/, and deletes them.
`;
const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'changes');
const CHANGELOG = join(ROOT, 'CHANGELOG.md');

async function main(args: readonly string[]): Promise<number> {
  const version = args[0] ?? '';
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new UsageError('VERSION has three numbers, such as 0.2.0');
  const names = readdirSync(FOLDER).filter((name) => name !== 'README.md');
  const changes: readonly Change[] = names.map((name) =>
    changeOf(name, readFileSync(join(FOLDER, name), 'utf8')),
  );
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(CHANGELOG, withRelease(readFileSync(CHANGELOG, 'utf8'), version, day, changes));
  for (const name of names) rmSync(join(FOLDER, name));
  process.stdout.write(`${names.length} changes are now ${version} in CHANGELOG.md\n`);
  return 0;
}

await runCommand(USAGE, main);
