import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEvents } from './read-events.ts';

async function eventsOf(...chunks: string[]): Promise<(readonly [string | null, string])[]> {
  const bytes = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk, 'latin1');
  })();
  const found: (readonly [string | null, string])[] = [];
  for await (const { id, data } of readEvents(bytes)) found.push([id, data]);
  return found;
}

describe('readEvents', () => {
  it('joins what is cut anywhere, inside a character as well', async () => {
    const text = Buffer.from('id: 7\ndata: é\n\ndata: x\r\n\r\n').toString('latin1');
    for (let at = 0; at <= text.length; at += 1) {
      const found = await eventsOf(text.slice(0, at), text.slice(at));
      assert.deepEqual(
        found,
        [
          ['7', 'é'],
          [null, 'x'],
        ],
        `cut at ${at}`,
      );
    }
  });

  it('leaves out comments, retry and an event that never ended', async () => {
    assert.deepEqual(await eventsOf(': ping\n\nretry: 1000\n\ndata: a\ndata: b\n\ndata: half'), [
      [null, 'a\nb'],
    ]);
  });
});
