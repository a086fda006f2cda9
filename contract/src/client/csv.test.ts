import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { csvRecord } from './csv.ts';

describe('a CSV record', () => {
  it('quotes what would end a field, and leaves nothing where there is no value', () => {
    assert.equal(
      csvRecord(['a', 'b,c', 'd"e', 'f\r\ng', null, 7, true, '']),
      'a,"b,c","d""e","f\r\ng",,7,true,\r\n',
    );
  });

  it('keeps text that a spreadsheet would take for a formula from being one; numbers stay numbers', () => {
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\nx', '=HYPERLINK("http://x","y")']) {
      const field = csvRecord([text]).replace(/^"/, '');
      assert.ok(field.startsWith("'"), JSON.stringify(field));
    }
    assert.equal(csvRecord([-1, 1.5, 'a=1', 'a-b', "'x"]), "-1,1.5,a=1,a-b,'x\r\n");
  });
});
