import type { components } from '@relay/contract/api-types';
import { type Api, connect } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { milliseconds, plain } from '../output/cells.ts';
import { formatOf, type OutputOptions } from '../output/options.ts';
import { printObject, tableStyle } from '../output/print.ts';
import { paintTone, renderTable } from '../output/table.ts';
import type { ConnectionOptions } from '../session/connection.ts';

type Result = components['schemas']['ProviderTestResult'] | components['schemas']['EndpointTestResult'];

/** What was tested, as the commands that fix it name it. */
export interface Tested {
  readonly provider: string;
  readonly endpoint: string | null;
}

/** Shows where the test stopped and what the provider said; the command fails when the test did. */
export async function runConnectionTest(
  surroundings: Surroundings,
  options: ConnectionOptions & OutputOptions,
  test: (api: Api) => Promise<{ readonly result: Result; readonly tested: Tested }>,
): Promise<void> {
  const { result, tested } = await test(await connect(surroundings, options));
  if (formatOf(surroundings, options) === 'table') printStages(surroundings, result);
  else await printObject(surroundings, options, result);
  if (!result.ok) {
    const detail = { why: answerWords(result), fix: fixOf(result.outcome, tested) };
    throw new ProgramError(plain(result.message), exitCodes.error, detail);
  }
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
      // The error below says what failed.
      { title: 'message', value: ({ status, message }) => (status === 'failed' ? '' : message) },
    ],
    style,
  );
  surroundings.stdout.write(stages);
  if (result.ok) surroundings.stdout.write(`${paintTone(plain(result.message), 'good', style.stream)}\n`);
}

/** api.example.com answered 401: "Incorrect API key provided" */
export function answerWords(
  result: Pick<Result, 'host' | 'upstream_status' | 'upstream_message'>,
): string | undefined {
  const { host, upstream_status: status, upstream_message: said } = result;
  if (status === null) return undefined;
  return plain(`${host} answered ${status}${said === null ? '' : `: "${said}"`}`);
}

/** The command that fixes what the test found, or repeats it where only waiting helps. */
export function fixOf(outcome: Result['outcome'], { provider, endpoint }: Tested): string {
  switch (outcome) {
    case 'no_credential':
    case 'credential_unreadable':
    case 'token_failed':
    case 'unauthorized':
    case 'forbidden':
      return `run \`relay providers set-credential ${provider} --secret-stdin\``;
    case 'request_refused':
      if (endpoint !== null) return `run \`relay endpoints update ${endpoint} --upstream-model MODEL\``;
      return `run \`relay providers update ${provider} --base-url URL\``;
    case 'not_found':
      if (endpoint === null) return `run \`relay providers update ${provider} --base-url URL\``;
      return `run \`relay endpoints update ${endpoint} --upstream-model MODEL\`, or \`relay providers update ${provider} --base-url URL\``;
    case 'no_model_list':
      return `run \`relay endpoints create --provider ${provider} --name NAME --upstream-model MODEL --route-kind multi\``;
    case 'address_refused':
    case 'dns_failed':
    case 'connection_refused':
    case 'connection_failed':
    case 'tls_failed':
    case 'redirected':
    case 'invalid_response':
      return `run \`relay providers update ${provider} --base-url URL\``;
    case 'timed_out':
    case 'rate_limited':
    case 'upstream_error':
    case 'ok':
      return endpoint === null
        ? `run \`relay providers test ${provider}\` again`
        : `run \`relay endpoints test ${endpoint}\` again`;
  }
}
