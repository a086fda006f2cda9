// `npm run image`: writes dist/image, the folder that the image is built from. With --check it is also built and run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runCommand } from '@relay/testbed';
import { writeContext } from './image/write-context.ts';

const USAGE = `usage: npm run image [-- --check]
Writes dist/image: Dockerfile, package and lockfile. Then build it: docker build -t relay-gateway dist/image
  --check   build it with buildah, run it with private stores, and send a first request; needs root, buildah and mmdebstrap
The last line of the check is one JSON object: {"built", "status", "image_mb", …}.
`;

const ROOT = join(import.meta.dirname, '../..');
const CONTEXT = join(ROOT, 'dist/image');
const CHECK = join(ROOT, 'system-tests/src/image/run.ts');

await runCommand(USAGE, async (args) => {
  await writeContext(ROOT, CONTEXT);
  if (!args.includes('--check')) {
    process.stdout.write('wrote dist/image\n');
    return 0;
  }
  const child = spawn(process.execPath, [CHECK, CONTEXT], { stdio: 'inherit' });
  process.once('exit', () => child.kill('SIGTERM'));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
});
