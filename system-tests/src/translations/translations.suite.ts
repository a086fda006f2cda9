// npm run system -- translations
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { reportFigures } from '../harness/figures.ts';

const ENTRY = join(import.meta.dirname, '../../../server/src/protocols/translate/checks/run.fixture.ts');

interface Figures {
  readonly cases: number;
  readonly by_hand: number;
  readonly conversations: number;
  readonly changed: number;
  readonly splits: number;
  readonly wrong: number;
  readonly unnamed: number;
}

/** The server's own cases, counted in a process of theirs: `npm run check:translations`. */
async function checkTranslations(): Promise<Figures> {
  const child = spawn(process.execPath, [ENTRY], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await once(child, 'close');
  const lines = said.trim().split('\n');
  for (const line of lines.slice(0, -1)) process.stdout.write(`${line}\n`);
  return JSON.parse(lines.at(-1) ?? '') as Figures;
}

it('requests, answers and streams are translated as documented, however they are cut, with nothing left out unnamed and the text of what is not understood', async () => {
  const figures = await checkTranslations();
  reportFigures({ ...figures });
  const { cases, by_hand: byHand, splits, conversations, wrong, unnamed, changed } = figures;
  assert.ok(cases > 10_000 && byHand >= 800 && splits > 100_000, 'the cases are missing');
  assert.ok(conversations >= 20_000, 'the conversations are missing');
  assert.deepEqual({ wrong, unnamed, changed }, { wrong: 0, unnamed: 0, changed: 0 });
});
