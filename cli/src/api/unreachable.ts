import { exitCodes, ProgramError } from '../kit/program-error.ts';

/** Explains a failed `fetch`, whose own message says nothing. */
export function unreachable(server: string, error: unknown): ProgramError {
  const { what, fix } = explain(server, error);
  return new ProgramError(what, exitCodes.error, { fix });
}

function explain(server: string, error: unknown): { what: string; fix: string } {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return {
      what: `${server} did not answer in time.`,
      fix: 'try again, or run `relay doctor` to see what is slow',
    };
  }
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = codeOf(cause);
  if (code === 'ECONNREFUSED') {
    return {
      what: `No server listens at ${server}.`,
      fix: 'run `relay start` to start it, or check the address and the port',
    };
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      what: `The name ${new URL(server).hostname} cannot be resolved.`,
      fix: 'check the spelling of the address and the network',
    };
  }
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return {
      what: `The TLS certificate of ${server} is not trusted (${code}).`,
      fix: 'check the address; for a private authority set NODE_EXTRA_CA_CERTS to its certificate file',
    };
  }
  if (code === 'EPROTO' || code === 'HPE_INVALID_CONSTANT' || code.startsWith('HPE_')) {
    return {
      what: `${server} does not speak the protocol that was asked for.`,
      fix: 'check whether the address begins with http:// or https://, and the port',
    };
  }
  if (cause instanceof Error && cause.message === 'bad port') {
    return {
      what: `No server can be at ${server}: the port is kept for another protocol.`,
      fix: 'check the port',
    };
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return {
    what: `The connection to ${server} failed: ${code === '' ? detail : code}.`,
    fix: 'try again, or run `relay doctor`, which looks at the connection step by step',
  };
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code);
}
