import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { ProviderSim } from '@relay/provider-sim';
import { reportFigures } from '../harness/figures.ts';
import { type LocalRelay, startLocal, startOllama } from '../harness/start-local.ts';

// From an empty folder to the first answer of a model on this machine: `relay start --detect`, and the command that it prints.

const figures: Record<string, number> = {};
let ollama: ProviderSim;
let env: Record<string, string>;

before(async () => {
  ollama = await startOllama();
  env = { OLLAMA_HOST: `127.0.0.1:${ollama.port}` };
});
after(async () => {
  await ollama.close();
  reportFigures(figures);
});

async function started(
  args: readonly string[],
  more: Readonly<Record<string, string>>,
  use: (relay: LocalRelay) => Promise<void>,
): Promise<void> {
  const relay = await startLocal(args, { ...env, ...more });
  try {
    await use(relay);
  } finally {
    await relay.stop();
  }
}

describe('a model on this machine', () => {
  it('answers after two commands', async () => {
    const startMs = performance.now();
    await started(['--detect'], {}, async (relay) => {
      const printed = await relay.untilPrinted(/chat\/completions[\s\S]*"model":"default".*\n/);
      assert.match(printed, /Added Ollama:\n {4}llama3\.2 /);
      const command = /^ {4}(curl \S*chat\/completions.*\n.*)$/m.exec(printed)?.[1] ?? '';
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: relay.folder });
      const answer = JSON.parse(stdout) as { choices: { message: { content: string } }[] };
      assert.match(answer.choices[0]?.message.content ?? '', /\w/);
      figures['seconds'] = Number(((performance.now() - startMs) / 1_000).toFixed(1));
    });
    assert.equal(ollama.log.at(-1)?.model, 'llama3.2');
  });

  it('and keys in the environment are named and not used without being asked to', async () => {
    const keys = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-ant-1' };
    const asked = ollama.log.length;
    await started([], keys, async (relay) => {
      const printed = await relay.untilPrinted(/Found .*\n/);
      const seen = `OPENAI_API_KEY, ANTHROPIC_API_KEY and Ollama at 127.0.0.1:${ollama.port}`;
      assert.ok(printed.includes(`Found ${seen}. To set up OpenAI, Anthropic and Ollama`), printed);
      assert.ok(printed.includes('run: relay start --detect'), printed);
      assert.ok(!printed.includes('sk-'), printed);
    });
    assert.equal(ollama.log.length, asked);
  });
});
