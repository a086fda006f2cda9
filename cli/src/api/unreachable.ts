import { exitCodes, ProgramError } from '../kit/program-error.ts';

/** Explains a failed `fetch`, whose own message says nothing. */
export function unreachable(server: string, error: unknown): ProgramError {
  const { what, fix } = explain(server, error);
  return new ProgramError(what, exitCodes.error, { fix });
}

function explain(server: string, error: unknown): { what: string; fix: string } {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return {
      what: `${server} didn't respond in time.`,
      fix: 'Try again, or diagnose the problem. Run: `relay doctor`',
    };
  }
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = codeOf(cause);
  if (code === 'ECONNREFUSED') {
    return {
      what: `No server is running at ${server}.`,
      fix: 'Check the address and the port, or start Relay. Run: `relay start`',
    };
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      what: `The host name ${new URL(server).hostname} can't be resolved.`,
      fix: 'Check the spelling of the address, and the network.',
    };
  }
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return {
      what: `The TLS certificate of ${server} is not trusted (${code}).`,
      fix: 'Check the address. For a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file.',
    };
  }
  if (code === 'EPROTO' || code === 'HPE_INVALID_CONSTANT' || code.startsWith('HPE_')) {
    return {
      what: `${server} uses a different protocol.`,
      fix: 'Check the port, and whether the address starts with http:// or https://.',
    };
  }
  if (cause instanceof Error && cause.message === 'bad port') {
    return {
      what: `${server} can't be Relay: the port is reserved for another protocol.`,
      fix: 'Check the port.',
    };
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return {
    what: `The connection to ${server} failed: ${code === '' ? detail : code}.`,
    fix: 'Try again, or diagnose the problem. Run: `relay doctor`',
  };
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code);
}
