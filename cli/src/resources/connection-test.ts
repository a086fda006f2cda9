import type { components } from '@relay/contract/api-types';
import { type Api, connect } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { milliseconds } from '../output/cells.ts';
import { formatOf, type OutputOptions } from '../output/options.ts';
import { printObject, tableStyle } from '../output/print.ts';
import { paintTone, renderTable } from '../output/table.ts';
import type { ConnectionOptions } from '../session/connection.ts';

type Result = components['schemas']['ProviderTestResult'] | components['schemas']['EndpointTestResult'];

/** Shows where the test stopped; the command fails when the test did. */
export async function runConnectionTest(
  surroundings: Surroundings,
  options: ConnectionOptions & OutputOptions,
  test: (api: Api) => Promise<Result>,
): Promise<void> {
  const result = await test(await connect(surroundings, options));
  if (formatOf(surroundings, options) === 'table') printStages(surroundings, result);
  else await printObject(surroundings, options, result);
  if (!result.ok) throw new ProgramError(result.message, exitCodes.error);
}

function printStages(surroundings: Surroundings, result: Result): void {
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
      { title: 'message', value: ({ message }) => message },
    ],
    style,
  );
  surroundings.stdout.write(stages);
  if (result.ok) surroundings.stdout.write(`${paintTone(result.message, 'good', style.stream)}\n`);
}
