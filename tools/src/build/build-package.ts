import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { writeEmptyDatabase } from '@relay/server/empty-database';
import { runCommand } from '../check/run-command.ts';
import { listFiles } from '../check/source-files.ts';
import { writeBundle } from './bundle.ts';
import {
  type ManifestTemplate,
  type MemberManifest,
  type PublishedManifest,
  packageManifest,
} from './manifest.ts';
import { noticesOf } from './notices.ts';
import { demandNamed, partsIn } from './parts.ts';
import { type Lockfile, sbomOf } from './sbom.ts';

/** Where the server, in the bundle as in the repository, looks for the console's files. */
const CONSOLE = 'console/dist';
/** Where the embedded PostgreSQL looks for the files of a new database. */
const EMBEDDED = 'server/src/store/embedded';
const NOTICES = 'licenses.md';
/** In the folder `lib`; the ending is the one by which scanners know such a file. */
export const SBOM = 'relay-gateway.cdx.json';
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
  const notices = noticesOf(bundle.held);
  demandNamed(bundleFiles(library), notices);
  writeFileSync(join(library, NOTICES), notices);
  await buildConsole(root, join(library, CONSOLE));

  const product = readJson<PublishedManifest>(join(root, 'package.json'));
  const manifest = packageManifest({
    template: readJson<ManifestTemplate>(join(root, 'package/package.json')),
    version: product.version,
    engines: product.engines,
    members: bundle.members.map((member) => readJson<MemberManifest>(join(root, member, 'package.json'))),
    imports: bundle.imports,
  });
  writeJson(join(directory, 'package.json'), manifest);
  writeJson(join(library, SBOM), packageSbom(root, library, manifest));
  copyFileSync(join(root, 'LICENSE'), join(directory, 'LICENSE'));
  copyFileSync(join(root, 'package/README.md'), join(directory, 'README.md'));
  mkdirSync(join(directory, 'bin'));
  copyFileSync(join(root, 'package/relay.js'), join(directory, 'bin/relay.js'));
  chmodSync(join(directory, 'bin/relay.js'), 0o755);
}

/** Names what the notices name, those of the console included, and what npm installs beside the package. */
function packageSbom(root: string, library: string, manifest: PublishedManifest): object {
  const notices = [NOTICES, `${CONSOLE}/${NOTICES}`].map((file) => readFileSync(join(library, file), 'utf8'));
  return sbomOf({
    product: manifest,
    contained: notices.flatMap(partsIn),
    dependencies: Object.entries(manifest.dependencies).map(([name, version]) => ({ name, version })),
    lock: readJson<Lockfile>(join(root, 'package-lock.json')),
  });
}

function bundleFiles(library: string): string[] {
  const names = readdirSync(library).filter((name) => name.endsWith('.js'));
  return names.map((name) => readFileSync(join(library, name), 'utf8'));
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

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
