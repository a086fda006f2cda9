// The image, built by buildah from the folder that `npm run image` writes, and run. The last line is one JSON object.
import { runCommand, UsageError } from '@relay/testbed';
import { buildah, capture } from './buildah.ts';
import { checkImage } from './check-image.ts';
import { baseImage } from './debian-with-node.ts';

const USAGE = 'usage: npm run image -- --check\n';
const IMAGE = 'localhost/relay-gateway:check';

await runCommand(USAGE, async ([context]) => {
  if (context === undefined) throw new UsageError('the folder to build from is missing');
  if (process.getuid?.() !== 0) throw new UsageError('building and mounting without an engine needs root');
  const startedMs = performance.now();
  const seconds = () => Number(((performance.now() - startedMs) / 1_000).toFixed(1));
  const base = await baseImage();
  const baseSeconds = seconds();
  const settings = ['--format', 'docker', '--build-arg', `BASE_IMAGE=${base}`];
  await buildah('bud', ...settings, '--tag', IMAGE, context);
  const buildSeconds = seconds() - baseSeconds;
  const figures = await checkImage(IMAGE);
  const held =
    figures.status === 200 &&
    figures.in_flight_status === 200 &&
    figures.exit_codes.every((code) => code === 0);
  const report = {
    built: true,
    ...figures,
    image_mb: await imageMb(),
    base_seconds: baseSeconds,
    build_seconds: Number(buildSeconds.toFixed(1)),
    seconds: seconds(),
  };
  // Otherwise every run would leave an image in the cache.
  await buildah('rmi', IMAGE);
  await buildah('rmi', '--prune');
  process.stdout.write(`${JSON.stringify(report)}\n`);
  return held ? 0 : 1;
});

/** Unpacked, as it lies on a node's disk. */
async function imageMb(): Promise<number> {
  const container = await buildah('from', IMAGE);
  const root = await buildah('mount', container);
  const size = Number.parseInt(await capture('du', ['-sm', root]), 10);
  await buildah('rm', container);
  return size;
}
