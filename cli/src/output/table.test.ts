import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { dollars, plain } from './cells.ts';
import { toCsv } from './csv.ts';
import { renderTable } from './table.ts';

const stream = new PassThrough() as unknown as NodeJS.WriteStream;
interface Row {
  readonly name: string;
  readonly size: number | null;
}
const columns = [
  { title: 'name', value: ({ name }: Row) => name, elastic: true },
  { title: 'size', value: ({ size }: Row) => size, align: 'right' as const },
];

describe('tables', () => {
  it('align wide characters, and null is not zero', () => {
    const rows = [
      { name: '日本', size: 7 },
      { name: 'abc', size: null },
    ];
    assert.equal(
      renderTable(rows, columns, { columns: undefined, stream }),
      'NAME  SIZE\n日本     7\nabc      -\n',
    );
  });

  it('shorten only elastic columns on a narrow terminal', () => {
    const rows = [{ name: 'a very long name indeed', size: 123456 }];
    assert.equal(
      renderTable(rows, columns, { columns: 20, stream }),
      'NAME            SIZE\na very long…  123456\n',
    );
  });

  it('keep a few characters of an elastic column, however narrow the terminal is', () => {
    const rows = [{ name: 'a very long name indeed', size: 123456 }];
    const [, row] = renderTable(rows, columns, { columns: 3, stream }).split('\n');
    assert.equal(row, 'a very …  123456');
  });

  it('remove control characters', () => {
    assert.equal(plain('a\u001b[2Jb\u0007c\u202ed\n'), 'a [2Jb c d ');
    const rows = [{ name: 'x\u001b]0;t\u0007', size: 1 }];
    assert.ok(!renderTable(rows, columns, { columns: undefined, stream }).includes('\u001b'));
  });
});

describe('values', () => {
  it('money is exact below a cent', () => {
    assert.deepEqual([0, 6, 10_000, 1_234_567, null].map(dollars), [
      '$0.00',
      '$0.000006',
      '$0.01',
      '$1.234567',
      '-',
    ]);
  });

  it('CSV quotes where needed and keeps columns of later rows', () => {
    assert.equal(toCsv([{ a: 'x"y,z', b: [1] }, { c: null }]), 'a,b,c\r\n"x""y,z",[1],\r\n,,\r\n');
  });

  it('CSV has no formula in a cell of text, and numbers stay numbers', () => {
    assert.equal(
      toCsv([{ name: '=HYPERLINK("x")', change: -5, ok: true, note: '+1' }]),
      'name,change,ok,note\r\n"\'=HYPERLINK(""x"")",-5,true,\'+1\r\n',
    );
  });
});
