import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildah, CACHE, capture } from './buildah.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Enough for a shell and dpkg's entries of the libraries; less than dpkg's own essential set. */
const PACKAGES =
  'base-files,base-passwd,coreutils,dash,diffutils,dpkg,findutils,grep,hostname,libc-bin,libstdc++6,sed';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The name of an image like the public one of Node, made from packages of Debian and Node's npm package: no registry of images is needed.
 * It is made once for each version and kept.
 */
export async function baseImage(): Promise<string> {
  const version = readFileSync(join(ROOT, '.nvmrc'), 'utf8').trim();
  const name = `localhost/relay-base:${version}`;
  mkdirSync(CACHE, { recursive: true });
  const found = await buildah('images', '--quiet', name).catch(() => '');
  if (found === '') await makeBase(name, version);
  return name;
}

async function makeBase(name: string, version: string): Promise<void> {
  const folder = mkdtempSync(join(CACHE, 'base-'));
  try {
    const archive = join(folder, 'debian.tar');
    const node = `node-linux-${process.arch}`;
    const npm = ['install', '--prefix', folder, '--ignore-scripts', '--prefer-offline'];
    await Promise.all([
      capture('mmdebstrap', ['--variant=custom', `--include=${PACKAGES}`, 'bookworm', archive]),
      capture('npm', [...npm, `${node}@${version}`]),
    ]);
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, archive, '/');
    const root = await buildah('mount', container);
    mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
    cpSync(join(folder, 'node_modules', node, 'bin/node'), join(root, 'usr/local/bin/node'));
    await buildah('config', '--env', `PATH=${PATH}`, container);
    await buildah('commit', '--quiet', '--rm', container, name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
