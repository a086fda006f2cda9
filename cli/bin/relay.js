#!/usr/bin/env node
// First, because an old Node cannot load the rest.
import '../../tools/node-version.cjs';

const { run } = await import('../src/index.ts');
process.exitCode = await run(process.argv.slice(2));
