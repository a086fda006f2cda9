import type { components } from '@relay/contract/api-types';
import { plain } from '../output/cells.ts';

/** The result of a connection test of a provider or an endpoint. */
export type TestResult =
  | components['schemas']['ProviderTestResult']
  | components['schemas']['EndpointTestResult'];

/** What was tested, as the commands that fix it name it. */
export interface Tested {
  readonly provider: string;
  readonly endpoint: string | null;
}

/** api.example.com returned 401: "Incorrect API key provided" */
export function responseWords(
  result: Pick<TestResult, 'host' | 'upstream_status' | 'upstream_message'>,
): string | undefined {
  const { host, upstream_status: status, upstream_message: said } = result;
  if (status === null) return undefined;
  return plain(`${host} returned ${status}${said === null ? '' : `: "${said}"`}`);
}

/** The command that fixes what the test found, or repeats it where only waiting helps. */
export function fixOf(outcome: TestResult['outcome'], { provider, endpoint }: Tested): string {
  switch (outcome) {
    case 'no_credential':
      return `Store the credential. Run: \`relay providers set-credential ${provider}\``;
    case 'credential_unreadable':
    case 'token_failed':
    case 'unauthorized':
    case 'forbidden':
      return `Replace the credential. Run: \`relay providers set-credential ${provider}\``;
    case 'request_refused':
      if (endpoint !== null)
        return `Correct the upstream model. Run: \`relay endpoints update ${endpoint} --upstream-model MODEL\``;
      return `Correct the address. Run: \`relay providers update ${provider} --base-url URL\``;
    case 'not_found':
      if (endpoint === null)
        return `Correct the address. Run: \`relay providers update ${provider} --base-url URL\``;
      return `If the address is wrong, run \`relay providers update ${provider} --base-url URL\`. Otherwise, correct the upstream model. Run: \`relay endpoints update ${endpoint} --upstream-model MODEL\``;
    case 'no_model_list':
      return `Name the model yourself. Run: \`relay endpoints create --provider ${provider} --name NAME --upstream-model MODEL --route-kind multi\``;
    case 'address_refused':
    case 'dns_failed':
    case 'connection_refused':
    case 'connection_failed':
    case 'tls_failed':
    case 'redirected':
    case 'invalid_response':
      return `Correct the address. Run: \`relay providers update ${provider} --base-url URL\``;
    case 'timed_out':
    case 'rate_limited':
    case 'upstream_error':
    case 'ok':
      return endpoint === null
        ? `Try again later. Run: \`relay providers test ${provider}\``
        : `Try again later. Run: \`relay endpoints test ${endpoint}\``;
  }
}
