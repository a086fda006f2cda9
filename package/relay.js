#!/usr/bin/env node
// The first file of the package that runs, and the only one that a Node too old for the rest must understand.
import { readFileSync } from 'node:fs';
import process from 'node:process';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const numbers = (version) =>
  version
    .replace(/^[^\d]*/, '')
    .split('.')
    .map(Number);
const wanted = numbers(manifest.engines.node);
const here = numbers(process.versions.node);
const differing = wanted.findIndex((number, index) => number !== here[index]);

if (differing !== -1 && here[differing] < wanted[differing]) {
  process.stderr.write(
    `relay: needs Node ${wanted.join('.')} or newer; this is ${process.versions.node}. Install a newer Node and run it again.\n`,
  );
  process.exitCode = 1;
} else {
  const { run } = await import(new URL('../lib/cli.js', import.meta.url).href);
  process.exitCode = await run(process.argv.slice(2));
}
