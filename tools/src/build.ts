// `npm run build`: the package as it is published, in dist/relay-gateway.
// `npm run pack:release` is the same with --pack: it also writes the archive that npm publishes, its size, and the SBOM.
import { copyFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackage, SBOM } from './build/build-package.ts';
import { packPackage } from './build/pack-package.ts';

const USAGE = `usage: npm run build [-- --out=DIR] [-- --pack]
  --out=DIR   where to write the folder relay-gateway and the archive (default dist)
  --pack      also write relay-gateway-VERSION.tgz and its SBOM; the last line is its figures as JSON
`;

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist') },
    pack: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const startedMs = performance.now();
  const seconds = () => Number(((performance.now() - startedMs) / 1000).toFixed(1));
  const out = resolve(values.out);
  await buildPackage(root, join(out, 'relay-gateway'));
  process.stdout.write(`built in ${seconds()} s\n`);
  if (!values.pack) return;
  const packed = await packPackage(join(out, 'relay-gateway'), out);
  copyFileSync(join(out, 'relay-gateway/lib', SBOM), join(out, SBOM));
  process.stdout.write(`${JSON.stringify({ ...packed, seconds: seconds() })}\n`);
}

await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
