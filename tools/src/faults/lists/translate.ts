import { faultsIn } from '../fault.ts';

export const translateFaults = faultsIn('server/src/protocols/translate', [
  {
    name: 'a field that no table knows is dropped',
    file: 'field-sorter.ts',
    find: 'else this.cannotSay(field);',
    replace: '',
    why: 'the provider answers another request than the client made',
    tests: ['checks/goldens.test.ts'],
  },
  {
    name: 'an advisory field is left out without its name',
    file: 'field-sorter.ts',
    find: "if (rule?.treatment === 'advisory') this.leaveOut(field);",
    replace: "if (rule?.treatment === 'advisory') continue;",
    why: 'explain and the trace claim that a request is complete',
    tests: ['checks/goldens.test.ts'],
  },
  {
    name: 'results of tools follow what the user says',
    file: 'messages-to-chat/conversation.ts',
    find: 'return [...results, ...userMessage(parts)];',
    replace: 'return [...userMessage(parts), ...results];',
    why: 'chat providers reject calls that are not answered directly',
    tests: ['checks/goldens.test.ts'],
  },
  {
    name: 'a forced call ends the turn',
    file: 'readers/chat.ts',
    find: "if (reason === 'stop' && this.#calls.length > 0) return 'tool_calls';",
    replace: '',
    why: 'agents of Messages do not run the tool',
    tests: ['checks/goldens.test.ts'],
  },
  {
    name: 'a block is closed within the input of its tool',
    file: 'writers/messages.ts',
    find: 'if (this.#waiting.length > 0 || !open.isComplete()) {',
    replace: 'if (this.#waiting.length > 0) {',
    why: 'the inputs of parallel calls are cut short',
    tests: ['checks/goldens.test.ts'],
  },
  {
    name: 'tokens of a cache are not part of the input',
    file: 'readers/messages.ts',
    find: 'this.#uncached + this.#cacheRead + this.#cacheWrite',
    replace: 'this.#uncached',
    why: 'long conversations report a fraction of their tokens',
    tests: ['checks/goldens.test.ts'],
  },
]);
