import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile } from '@relay/contract';
import { readYaml, writeConfigText } from '@relay/contract/config-text';
import fc from 'fast-check';
import { largeFile } from '../large-file.fixture.ts';
import { readConfigText } from './check-config.ts';
import { findSecrets } from './find-secrets.ts';

const GOOD = `# yaml-language-server: $schema=./relay.schema.json
version: 1
providers:
  - name: Main
    base_url: https://api.example.com/v1
credentials:
  - provider: main
    name: key
    secret_ref: env:MAIN_KEY
endpoints:
  - { name: Model, provider: main, upstream_model: gpt-5, route_kind: multi }
lanes:
  - name: Fast
memberships:
  - lane: fast
    endpoint: model
    manual_rank: 1
`;

/** Changes the valid file and returns the positions of the errors. */
function faultsAfter(from: string, to: string, references: 'in_file' | 'anywhere' = 'in_file'): string[] {
  assert.ok(GOOD.includes(from));
  const { config, findings } = readConfigText(GOOD.replace(from, to), { references });
  assert.equal(config === null, findings.length > 0);
  return findings.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

describe('the text of a configuration file', () => {
  it('is read when it is good, as YAML and as JSON', () => {
    const { config } = readConfigText(GOOD, { references: 'in_file' });
    assert.equal(config?.lanes?.[0]?.name, 'Fast');
    const json = readConfigText(JSON.stringify(config), { references: 'in_file' });
    assert.deepEqual(json.config, config);
  });

  const faults: readonly (readonly [string, string, string, RegExp])[] = [
    ['a value of the wrong kind', 'manual_rank: 1', 'manual_rank: one', /^17:18 .*must be an integer/],
    [
      'a field that does not exist',
      '  - name: Fast',
      '  - name: Fast\n    speed: 1',
      /^14:5 unknown field lanes\[0\]\.speed/,
    ],
    [
      'a field that is missing',
      '    manual_rank: 1\n',
      '',
      /^15:5 memberships\[0\]\.manual_rank is required/,
    ],
    ['a reference to nothing', 'lane: fast', 'lane: quick', /^15:11 .*"quick".*lanes in the file/],
    [
      'the same name twice',
      '  - name: Fast',
      '  - name: Fast\n  - name: fast',
      /^14:5 lanes\[1\] is the same lane "fast" as lanes\[0\]/,
    ],
    ['an address that cannot be one', 'https://api.example.com/v1', 'https://a@b/v1', /^5:15 .*user name/],
    ['a secret in the place of its reference', 'env:MAIN_KEY', 'sk-live-123', /^9:17 .*env:NAME or file:/],
    [
      'a secret in a field of its own',
      'secret_ref: env:MAIN_KEY',
      'secret_ref: env:A\n    api_key: sk-live-123',
      /^10:5 .*secret/,
    ],
    ['another version', 'version: 1', 'version: 2', /^2:10 version must be 1/],
    ['text that is not YAML', 'lanes:', 'lanes: [', /^\d+:\d+ is not valid YAML/],
    ['the same key twice', 'version: 1', 'version: 1\nversion: 1', /^3:1 .*unique/],
  ];
  for (const [what, from, to, expected] of faults) {
    it(`shows ${what} with line and column, and no secret`, () => {
      const [first, ...others] = faultsAfter(from, to);
      assert.match(first ?? '', expected);
      assert.ok(!`${first}${others.join()}`.includes('sk-live'));
    });
  }

  it('shows all faults at once, in their order', () => {
    const found = faultsAfter('name: Main', 'name: ""\n    nonsense: 1');
    assert.deepEqual(
      found.map((text) => text.split(' ')[0]),
      ['4:11', '5:5'],
    );
  });

  it('may name what is on the server alone, when that is asked for', () => {
    assert.deepEqual(faultsAfter('lane: fast', 'lane: elsewhere', 'anywhere'), []);
  });

  it('has a position for what the server says of a secret', () => {
    const { positionOf } = readConfigText(GOOD, { references: 'in_file' });
    assert.deepEqual(positionOf('secrets["env:MAIN_KEY"]'), { line: 9, column: 17 });
  });

  for (const seed of [1, 2]) {
    it(`arrives as it was written, byte by byte, for 530 items (seed ${seed})`, () => {
      const { file } = largeFile(seed);
      const text = writeConfigText(file);
      const { config } = readConfigText(text, { references: 'anywhere' });
      assert.deepEqual(config, file);
      assert.equal(writeConfigText(config as ConfigFile), text);
    });
  }

  it('keeps any name, whatever YAML would make of it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
        fc.string(),
        (name, description) => {
          const file: ConfigFile = { version: 1, lanes: [{ slug: 'lane', name, description }] };
          assert.deepEqual(readYaml(writeConfigText(file)).value, file);
        },
      ),
    );
    for (const name of [
      'yes',
      'null',
      '1e3',
      '0x1f',
      '- a',
      '# b',
      'a: b',
      '',
      '~',
      '2026-01-01',
      ' x ',
      'a\n\n b\n',
    ]) {
      const file = { version: 1, lanes: [{ slug: 'lane', name }] } as ConfigFile;
      assert.deepEqual(readYaml(writeConfigText(file)).value, file, name);
    }
  });
});

describe('the secrets of a file', () => {
  it('are found where their references lead, and an empty one is none', async () => {
    const config: ConfigFile = {
      version: 1,
      credentials: ['env:A', 'env:B', 'file:/run/c', 'file:d', 'file:e'].map((secret_ref, index) => {
        return { provider: 'p', name: `${index}`, secret_ref };
      }),
    };
    const files: Record<string, string> = { '/run/c': 'sk-c\n', d: 'sk-d\r\n' };
    const { secrets, missing } = await findSecrets(config, {
      variable: (name) => ({ A: 'sk-a', B: '' })[name],
      file: async (path) => files[path],
    });
    assert.deepEqual(secrets, { 'env:A': 'sk-a', 'file:/run/c': 'sk-c', 'file:d': 'sk-d' });
    assert.deepEqual(missing, ['env:B', 'file:e']);
  });
});
