// A reporter of Node's test runner: writes each result as one line of JSON, for the process that started the tests.
import { ALL_ENDED, resultOf, type TestEvent } from './test-result.ts';

export default async function* resultLines(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const result = resultOf(event);
    if (result !== null) yield `${JSON.stringify(result)}\n`;
  }
  // Without this line, the process ended before its tests did.
  yield `${ALL_ENDED}\n`;
}
