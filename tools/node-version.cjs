// Loaded before every tool (`node -r`): an old Node would end with a syntax error of TypeScript instead. It must run on any Node.
'use strict';
const { engines } = require('../package.json');

const wanted = engines.node.replace('>=', '');
const parts = (version) => version.split('.').map(Number);
const [major, minor, patch] = parts(process.versions.node);
const [wantedMajor, wantedMinor, wantedPatch] = parts(wanted);

if ((major - wantedMajor || minor - wantedMinor || patch - wantedPatch) < 0) {
  process.stderr.write(
    `Relay needs Node ${wanted} or newer, but this is ${process.versions.node}. See "Node" in CONTRIBUTING.md.\n`,
  );
  process.exit(1);
}
