import { type Api, connect } from '../api/client.ts';
import { fixOf, responseWords, type Tested, type TestResult } from '../api/test-result.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { milliseconds, plain } from '../output/cells.ts';
import { formatOf, type OutputOptions } from '../output/options.ts';
import { printObject, tableStyle } from '../output/print.ts';
import { paintTone, renderTable } from '../output/table.ts';
import type { ConnectionOptions } from '../session/connection.ts';

/** Shows where the test stopped and what the provider said; the command fails when the test did. */
export async function runConnectionTest(
  surroundings: Surroundings,
  options: ConnectionOptions & OutputOptions,
  test: (api: Api) => Promise<{ readonly result: TestResult; readonly tested: Tested }>,
): Promise<void> {
  const { result, tested } = await test(await connect(surroundings, options));
  if (formatOf(surroundings, options) === 'table') printStages(surroundings, result);
  else await printObject(surroundings, options, result);
  if (!result.ok) {
    const detail = { why: responseWords(result), fix: fixOf(result.outcome, tested) };
    throw new ProgramError(plain(result.message), exitCodes.error, detail);
  }
}

function printStages(surroundings: Surroundings, result: TestResult): void {
  const style = tableStyle(surroundings);
  const stages = renderTable(
    result.stages,
    [
      { title: 'stage', value: ({ stage }) => stage },
      {
        title: 'status',
        value: ({ status }) => status,
        tone: ({ status }) => (status === 'ok' ? 'good' : status === 'failed' ? 'bad' : 'quiet'),
      },
      { title: 'time', value: ({ latency_ms }) => milliseconds(latency_ms), align: 'right' },
      // The error below says what failed.
      { title: 'message', value: ({ status, message }) => (status === 'failed' ? '' : message) },
    ],
    style,
  );
  surroundings.stdout.write(stages);
  if (result.ok) surroundings.stdout.write(`${paintTone(plain(result.message), 'good', style.stream)}\n`);
}
