import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { processSurroundings } from '../kit/surroundings.ts';
import { flagsOf } from './flags.ts';

const flags = flagsOf(
  {
    properties: {
      name: { type: 'string' },
      provider_id: { type: 'string' },
      enabled: { type: 'boolean' },
      max_wait_ms: { anyOf: [{ type: 'integer', minimum: 0, maximum: 3_600_000 }, { type: 'null' }] },
      input_cost_micros_per_1m_tokens: { type: 'integer' },
      count: { type: 'integer', minimum: 0 },
      mode: { type: 'string', enum: ['a', 'b'] },
      secret: { type: 'string', writeOnly: true },
      rules: { type: 'array' },
    },
  },
  { provider_id: { flag: 'provider', describe: 'the provider' } },
);

let stdin = '';

async function read(...argv: string[]): Promise<Record<string, unknown>> {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of flags.options) command.addOption(option);
  command.parse(argv, { from: 'user' });
  const surroundings = { ...processSurroundings(), env: { KEY: 'sk-1' } };
  const piped = { ...surroundings, stdin: Readable.from([Buffer.from(stdin)]) as NodeJS.ReadStream };
  return flags.read(piped, command.opts());
}

describe('flags of a schema', () => {
  it('give the fields that were said, and no others', async () => {
    assert.deepEqual(await read(), {});
    assert.deepEqual(
      await read('--name', 'x', '--no-enabled', '--max-wait', '5s', '--mode', 'b', '--provider', 'p'),
      {
        name: 'x',
        enabled: false,
        max_wait_ms: 5_000,
        mode: 'b',
        provider_id: 'p',
      },
    );
  });

  it('take durations and dollars, and give the units of the API', async () => {
    assert.deepEqual(await read('--max-wait', '1m', '--input-price', '$2.50'), {
      max_wait_ms: 60_000,
      input_cost_micros_per_1m_tokens: 2_500_000,
    });
    await assert.rejects(read('--max-wait', '5'), /500ms, 30s/);
    await assert.rejects(read('--input-price', 'free'), /dollars/);
  });

  it('take null where the field may be null', async () => {
    assert.deepEqual(await read('--max-wait', 'null', '--enabled'), { max_wait_ms: null, enabled: true });
  });

  it('take a secret from the environment, never from the command line', async () => {
    assert.deepEqual(await read('--secret-env', 'KEY'), { secret: 'sk-1' });
    await assert.rejects(read('--secret', 'sk-1'), /unknown option/);
    await assert.rejects(read('--secret-env', 'NONE'), /NONE is not set/);
  });

  it('take a secret from a pipe without its line end', async () => {
    stdin = 'sk-2\n';
    assert.deepEqual(await read('--secret-stdin'), { secret: 'sk-2' });
  });

  it('refuse what the schema would refuse', async () => {
    await assert.rejects(read('--max-wait', '2h'), /1 h or less/);
    await assert.rejects(read('--count', '-1'), /0 or more/);
    await assert.rejects(read('--mode', 'c'), /Allowed choices/);
    for (const number of ['1.5', '1e3', 'five', ''])
      await assert.rejects(read('--count', number), /whole number/, number);
  });
});
