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

it('requests, answers and streams are translated as documented, however they are cut and with nothing left out unnamed', async () => {
  const figures = await checkTranslations();
  reportFigures({ ...figures });
  assert.ok(figures.cases > 10_000 && figures.splits > 100_000, 'the cases are missing');
  assert.deepEqual({ wrong: figures.wrong, unnamed: figures.unnamed }, { wrong: 0, unnamed: 0 });
});
