import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildah, CACHE, capture } from './buildah.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Enough for a shell, npm and dpkg's entries of the libraries; less than dpkg's own essential set. */
const PACKAGES =
  'base-files,base-passwd,coreutils,dash,diffutils,dpkg,findutils,grep,hostname,libc-bin,libstdc++6,sed';
const NPM = '11.19.1';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The name of an image like the public one of Node, made from packages of Debian and npm: no registry of images is needed.
 * It is made once for each version and kept.
 */
export async function baseImage(): Promise<string> {
  const version = readFileSync(join(ROOT, '.nvmrc'), 'utf8').trim();
  const name = `localhost/relay-base:${version}-npm${NPM}`;
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
      capture('npm', [...npm, `${node}@${version}`, `npm@${NPM}`]),
    ]);
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, archive, '/');
    addNode(await buildah('mount', container), join(folder, 'node_modules'), node);
    await buildah('config', '--env', `PATH=${PATH}`, ...certificateSettings(), container);
    await buildah('commit', '--quiet', '--rm', container, name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addNode(root: string, modules: string, node: string): void {
  const local = join(root, 'usr/local');
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  cpSync(join(modules, node, 'bin/node'), join(local, 'bin/node'));
  cpSync(join(modules, 'npm'), join(local, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  const certificates = ownCertificates();
  if (certificates === null) return;
  mkdirSync(dirname(join(root, certificates)), { recursive: true });
  cpSync(certificates, join(root, certificates), { dereference: true });
}

/** Where this machine reaches npm through a certificate of its own, the build needs it too. The final image has none of it. */
function ownCertificates(): string | null {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  return file !== undefined && existsSync(file) ? file : null;
}

function certificateSettings(): string[] {
  const certificates = ownCertificates();
  return certificates === null ? [] : ['--env', `NODE_EXTRA_CA_CERTS=${certificates}`];
}
