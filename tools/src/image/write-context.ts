import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackage } from '../build/build-package.ts';
import type { PublishedManifest } from '../build/manifest.ts';
import { withoutDependencies } from './without-dependencies.ts';

/** Writes all that the image is built from into the directory, which is emptied first. */
export async function writeContext(root: string, directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  copyFileSync(join(root, 'deploy/Dockerfile'), join(directory, 'Dockerfile'));
  copyFileSync(join(root, 'deploy/image/collect-root.sh'), join(directory, 'collect-root.sh'));
  await buildPackage(root, join(directory, 'package'));
  const file = join(directory, 'package/package.json');
  const manifest = withoutDependencies(JSON.parse(readFileSync(file, 'utf8')) as PublishedManifest);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
