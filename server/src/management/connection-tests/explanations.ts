import type { ProviderTestResult } from '@relay/contract';
import { durationWords } from '@relay/contract/words';

export type Outcome = ProviderTestResult['outcome'];

/** What is tested, as far as the messages need it. */
export interface Subject {
  readonly hostname: string;
  /** The host name, with its port if the base URL names one. */
  readonly host: string;
  /** Whether the host is an IP address, so that nothing has to be resolved. */
  readonly isAddress: boolean;
  readonly tls: boolean;
  readonly baseUrl: string;
  /** The address that was called, without its query; empty when nothing was sent. */
  readonly called: string;
  readonly needsCredential: boolean;
  /** How the credential is sent, in words. */
  readonly sentAs: string;
  /** Null when the test has no model. */
  readonly model: string | null;
  readonly timeoutMs: number;
  /** Why no token was issued for the credential, if one is needed and was not. */
  readonly tokenProblem?: string;
}

/** What was found and what to do about it. */
export function explanationOf(outcome: Outcome, subject: Subject, connected: boolean): string {
  const { hostname, host, baseUrl, called, model, timeoutMs } = subject;
  const timeout = durationWords(timeoutMs);
  switch (outcome) {
    case 'ok':
      return model === null
        ? 'The provider responds and accepts the credential.'
        : `Model ${model} responds. The provider may bill the test request.`;
    case 'no_credential':
      return 'No credential is enabled. Store one, enable it, or set auth_mode to "none".';
    case 'credential_unreadable':
      return 'Relay can’t decrypt the stored credential with its master keys, or it does not match auth_mode. Enter the secret again.';
    case 'token_failed':
      return `No access token was issued: ${subject.tokenProblem ?? 'the token endpoint did not respond'}. Check token_uri in the secret, and that the service account’s key is active.`;
    case 'no_model_list':
      return 'The provider has no model list, so Relay sent nothing. Create an endpoint and test it.';
    case 'address_refused':
      return `${hostname} is or resolves to a private, loopback or reserved address. Use a public one, or ask the operator to allow that network with RELAY_ALLOW_PRIVATE_NETWORKS. \`relay start\` allows loopback while it listens on loopback only.`;
    case 'dns_failed':
      return `${hostname} does not resolve to an address. Check its spelling in base_url, and the DNS of this deployment.`;
    case 'connection_refused':
      return `${host} refuses connections. Check the scheme and port of base_url, and that the server is running.`;
    case 'connection_failed':
      return connected
        ? `${hostname} closed the connection before its response was complete. Try again; if it happens again, check proxies in front of it.`
        : `Relay can’t connect to ${hostname}. Check base_url, and that no firewall blocks this deployment.`;
    case 'tls_failed':
      return `TLS with ${hostname} failed: its certificate is not trusted, has expired or is for another name, or the port does not use TLS. Check the scheme, host name and port of base_url.`;
    case 'timed_out':
      return connected
        ? `${hostname} accepted the request but did not respond within ${timeout}. Try again; if it happens again, the provider is overloaded or base_url is not its API.`
        : `No connection to ${hostname} within ${timeout}. Check the port of base_url, and that no firewall blocks this deployment.`;
    case 'unauthorized':
      return unauthorized(subject);
    case 'forbidden':
      return `${host} does not allow this call with the credential. Check its permissions, its project, its billing, and whether the provider allows this deployment’s network.`;
    case 'not_found':
      return notFound(subject);
    case 'rate_limited':
      return `${host} accepts the credential and is rate-limiting (429). Wait, or check your quota and billing there.`;
    case 'redirected':
      return `${host} returns a redirect, which Relay does not follow. Set base_url to the final address.`;
    case 'request_refused':
      return model === null
        ? `${host} rejected the request for its model list; see its message.`
        : `${host} rejected the test request for ${model}; see its message. Check upstream_model and route_kind.`;
    case 'upstream_error':
      return `${host} failed (5xx). Try again, and check its status page.`;
    case 'invalid_response':
      return `The response from ${called} does not match this protocol. Check that base_url is the API and not a website${versioned(baseUrl) ? '' : '; most end in /v1'}.`;
  }
}

function unauthorized({ host, needsCredential, sentAs }: Subject): string {
  return needsCredential
    ? `${host} does not accept the credential, sent as ${sentAs}. Enter the secret again, or check auth_mode.`
    : `${host} requires a credential. Set auth_mode and store one.`;
}

function notFound({ baseUrl, called, model }: Subject): string {
  const missing = `${called} does not exist (404).`;
  if (!called.startsWith(`${baseUrl}/`)) {
    return `${missing} The preset expects the model list there, whatever the path of base_url. Check the host, or test an endpoint instead.`;
  }
  if (model !== null && versioned(baseUrl)) {
    return `${missing} Check that the provider has the model ${model} and serves this route_kind.`;
  }
  if (!versioned(baseUrl)) return `${missing} base_url may need /v1 at the end.`;
  return `${missing} Check the path of base_url. If the provider has no model list, test an endpoint instead.`;
}

function versioned(baseUrl: string): boolean {
  return /\/v\d+\w*$/.test(baseUrl);
}
