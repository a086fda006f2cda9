/** Without one of these the package installs and starts, and fails in use. */
const NEEDED: Readonly<Record<string, RegExp>> = {
  'the command': /^bin\/relay\.js$/,
  'the command line': /^lib\/cli\.js$/,
  'the server': /^lib\/server-[\w-]+\.js$/,
  'the embedded PostgreSQL': /^lib\/engine-worker\.js$/,
  'the thread that replays requests': /^lib\/what-if-worker\.js$/,
  'the files of a new database': /^lib\/server\/src\/store\/embedded\/empty-database\.tar\.zst$/,
  'the simulated provider': /^lib\/provider-sim-[\w-]+\.js$/,
  'source maps': /^lib\/cli\.js\.map$/,
  migrations: /^lib\/server\/src\/store\/postgres\/migrations\/.+\.sql$/,
  'the scripts for Redis': /^lib\/server\/src\/admission\/redis\/script\/.+\.lua$/,
  'the console': /^lib\/console\/dist\/index\.html$/,
  'the notices of what the console is built from': /^lib\/console\/dist\/licenses\.md$/,
  'the notices of what the program is built from': /^lib\/licenses\.md$/,
  'the SBOM': /^lib\/relay-gateway\.cdx\.json$/,
  'the license': /^LICENSE$/,
  'the README': /^README\.md$/,
  'the manifest': /^package\.json$/,
};

const ALLOWED: readonly RegExp[] = [
  /^(LICENSE|README\.md|package\.json|bin\/relay\.js|lib\/licenses\.md|lib\/relay-gateway\.cdx\.json)$/,
  /^lib\/[\w-]+\.js(\.map)?$/,
  /^lib\/server\/src\/.+\.(sql|lua)$/,
  /^lib\/server\/src\/store\/embedded\/empty-database\.tar\.zst$/,
  /^lib\/console\/dist\//,
];

/** What is missing from the package's files, and what is in it without being needed. */
export function contentFaults(paths: readonly string[]): string[] {
  return [
    ...Object.entries(NEEDED)
      .filter(([, pattern]) => !paths.some((path) => pattern.test(path)))
      .map(([what]) => `lacks ${what}`),
    ...paths
      .filter((path) => !ALLOWED.some((pattern) => pattern.test(path)))
      .map((path) => `holds ${path}, which nothing there needs`),
  ];
}
