import { faultsIn } from '../fault.ts';

export const meteringFaults = faultsIn('server/src/metering', [
  {
    name: 'rows of a closed shard are written',
    file: 'shard-reader.ts',
    find: 'if (await isClosed()) {',
    replace: 'if (portion.reads < 0) {',
    why: 'a row that arrives while windows are rebuilt from the ledger is missed or counted twice',
    tests: ['shard-reader.db.test.ts'],
  },
  {
    name: 'one unreadable record loses its entry',
    file: 'stream-entry.ts',
    find: '      unreadable.push({ error, place });\n',
    replace: '      return { records: [], unreadable: [{ error, place }] };\n',
    why: 'the usage of others is lost with it',
  },
  {
    name: 'an entry without a record is nothing',
    file: 'stream-entry.ts',
    find: 'if (nothing) unreadable.push',
    replace: 'if (!nothing && fields.length < 0) unreadable.push',
    why: 'usage of another version disappears without a word',
  },
  {
    name: 'a draft is delivered beside its settlement',
    file: 'journal/journal-entry.ts',
    find: '!settled.has(entry.operationId) && ',
    replace: '',
    why: 'a request is posted as lost and then settled',
  },
  {
    name: 'an older draft of a request is delivered',
    file: 'journal/journal-entry.ts',
    find: 'drafts.get(entry.operationId) === number',
    replace: 'drafts.has(entry.operationId)',
    why: 'a request is charged to an endpoint that it left',
  },
  {
    name: 'a torn last line is read',
    file: 'journal/journal-entry.ts',
    find: "text.split('\\n').slice(0, -1).entries()",
    replace: "text.split('\\n').entries()",
    why: 'the end of a file that a crash cut counts as unreadable',
  },
]);
