import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeEmptyDatabase } from '@relay/server/empty-database';
import { runCommand } from '../check/run-command.ts';
import { listFiles } from '../check/source-files.ts';
import { writeBundle } from './bundle.ts';
import { type MemberManifest, packageManifest } from './manifest.ts';
import { noticesOf } from './notices.ts';

/** Where the server, in the bundle as in the repository, looks for the console's files. */
const CONSOLE = 'console/dist';
/** Where the embedded PostgreSQL looks for the files of a new database. */
const EMBEDDED = 'server/src/store/embedded';
/** What people write and what is compiled; all else beside a module is read by it. */
const NOT_READ = /\.(ts|md)$/;

/** Writes the package as it is published into the directory, which is emptied first. */
export async function buildPackage(root: string, directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  const library = join(directory, 'lib');
  mkdirSync(library, { recursive: true });
  const bundle = await writeBundle(root, library);
  for (const folder of bundle.folders) copyRead(root, folder, library);
  mkdirSync(join(library, EMBEDDED), { recursive: true });
  await writeEmptyDatabase(join(library, EMBEDDED));
  writeFileSync(join(library, 'licenses.md'), noticesOf(bundle.held));
  await buildConsole(root, join(library, CONSOLE));

  const product = readJson(join(root, 'package.json'));
  const manifest = packageManifest({
    template: readJson(join(root, 'package/package.json')),
    version: product.version,
    engines: product['engines'] as Record<string, string>,
    members: bundle.members.map((member) => readJson(join(root, member, 'package.json'))),
    imports: bundle.imports,
  });
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(directory, 'LICENSE'));
  copyFileSync(join(root, 'package/README.md'), join(directory, 'README.md'));
  mkdirSync(join(directory, 'bin'));
  copyFileSync(join(root, 'package/relay.js'), join(directory, 'bin/relay.js'));
  chmodSync(join(directory, 'bin/relay.js'), 0o755);
}

/** Straight into the package: a folder in the repository may be in use by a server, or be older than the sources. */
async function buildConsole(root: string, directory: string): Promise<void> {
  const args = ['run', 'build', '--workspace=@relay/console', '--', '--outDir', directory, '--emptyOutDir'];
  const { ok, output } = await runCommand('npm', args, root);
  if (!ok) throw new Error(`could not build the console\n${output}`);
}

function copyRead(root: string, folder: string, library: string): void {
  for (const path of listFiles(root, folder).filter((each) => !NOT_READ.test(each))) {
    mkdirSync(dirname(join(library, path)), { recursive: true });
    copyFileSync(join(root, path), join(library, path));
  }
}

function readJson(file: string): Record<string, unknown> & MemberManifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown> & MemberManifest;
}
