import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const CHECK = './tools/node-version.cjs';
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** What a tool prints that runs on this version of Node. */
function runOn(version: string): { readonly status: number | null; readonly output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'relay-node-version-'));
  const disguise = join(folder, 'disguise.cjs');
  writeFileSync(disguise, `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });`);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['-r', disguise, '-r', CHECK, '-p', '"ran"'],
    { cwd: ROOT, encoding: 'utf8' },
  );
  rmSync(folder, { recursive: true });
  return { status, output: stdout + stderr };
}

test('an old Node gets one sentence that names both versions, and the tool does not run', () => {
  for (const version of ['18.20.8', '20.20.2', '24.20.9']) {
    const { status, output } = runOn(version);
    assert.equal(status, 1, version);
    assert.match(
      output,
      new RegExp(`^Relay needs Node 24\\.\\S+ or newer, but this is ${version}\\. .*\\n$`),
    );
  }
});

test('the wanted Node and newer ones run the tool', () => {
  for (const version of [process.versions.node, '24.30.0', '26.0.0'])
    assert.deepEqual(runOn(version), { status: 0, output: 'ran\n' }, version);
});

test('every script checks the version of Node first', () => {
  for (const [name, command] of Object.entries(manifest.scripts))
    assert.ok(command.startsWith(`node -r ${CHECK} `), name);
});

test('images start from the Node of .nvmrc, by digest', () => {
  const node = readFileSync(join(ROOT, '.nvmrc'), 'utf8').trim();
  for (const file of ['deploy/Dockerfile', '.devcontainer/Dockerfile'])
    assert.match(
      readFileSync(join(ROOT, file), 'utf8'),
      new RegExp(`[= ]node:${node}-bookworm-slim@sha256:[0-9a-f]{64}\\n`),
      file,
    );
});
