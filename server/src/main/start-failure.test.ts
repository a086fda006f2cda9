import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { createLog } from '../kit/log.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import { loggingStart, StartFailedError } from './start-failure.ts';

describe('a start without PostgreSQL', () => {
  it('ends with one line in the log, which says that this process serves nothing and that others go on', async () => {
    let text = '';
    const destination = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    const log = createLog('info', destination);
    const database = createDatabase({ url: 'postgresql://relay:secret@127.0.0.1:1/relay', log });
    const start = () => database.query({ name: 'one', text: 'select 1', values: [] });
    await assert.rejects(loggingStart(log, start), StartFailedError);
    await database.close();
    const [line, ...others] = text.trim().split('\n');
    const { msg, reason, level } = JSON.parse(line ?? '') as Record<string, string>;
    assert.deepEqual([others, level], [[], 'error']);
    assert.match(reason ?? '', /ECONNREFUSED/);
    assert.match(
      msg ?? '',
      /cannot start: PostgreSQL .* has no configuration yet.*do not restart processes that run/,
    );
    assert.ok(!text.includes('secret'));
  });
});
