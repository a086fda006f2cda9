import type { PublishedManifest } from '../build/manifest.ts';

/** Only `relay start` uses the embedded database, and it would be a third of what is installed. */
const LEFT_OUT = '@electric-sql/pglite';

/** The manifest for an image, into which nothing is installed. Throws if the package needs more than it contains. */
export function withoutDependencies(published: PublishedManifest): PublishedManifest {
  const { [LEFT_OUT]: _embedded, ...needed } = published.dependencies;
  const names = Object.keys(needed);
  if (names.length > 0) throw new Error(`the image would lack ${names.join(', ')}`);
  return { ...published, dependencies: {} };
}
