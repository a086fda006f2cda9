import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvText } from './csv.ts';

test('numbers stay numbers, null is empty, and text is never a formula or a second cell', () => {
  assert.equal(
    csvText([
      ['a, b', 'say "x"', '=1+1', null, -5],
      ['plain', '', 'two\nlines', 0, 1.5],
    ]),
    '"a, b","say ""x""",\'=1+1,,-5\r\nplain,,"two\nlines",0,1.5\r\n',
  );
});

test('text that begins with any character of a formula is shown as text', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '\n']) {
    const [cell = ''] = csvText([[`${start}cmd`]]).split('cmd');
    assert.equal(cell.replace('"', ''), `'${start}`, JSON.stringify(start));
  }
  assert.equal(csvText([['a-b', 'x=1']]), 'a-b,x=1\r\n');
});
