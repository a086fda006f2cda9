/**
 * How an attempt fails without a complete answer of the provider. Each is also the code of the error that a client gets. `internal_error`: Relay
 * could not send it, which says nothing about the provider.
 */
export type UpstreamFault =
  | 'internal_error'
  | 'upstream_not_prepared'
  | 'upstream_unreachable'
  | 'upstream_timeout'
  | 'upstream_invalid_response';

/**
 * How the health of an endpoint counts an attempt. `neither`: the answer says nothing about the endpoint, because it depends on
 * the client's request.
 */
export type HealthCount = 'ok' | 'fault' | 'credential_refused' | 'throttled' | 'neither';

export interface UpstreamVerdict {
  /** Before any content, the request may fall back to the next candidate. */
  readonly movesOn: boolean;
  /** What of Relay's own configuration the provider rejected. Its text is then not for the client. */
  readonly rejects: 'credential' | 'address' | null;
  readonly health: HealthCount;
}

const SERVED: UpstreamVerdict = { movesOn: false, rejects: null, health: 'ok' };
const CLIENTS_OWN: UpstreamVerdict = { movesOn: false, rejects: null, health: 'neither' };
const REDIRECTED: UpstreamVerdict = { movesOn: true, rejects: 'address', health: 'fault' };
const CREDENTIAL_REFUSED: UpstreamVerdict = {
  movesOn: true,
  rejects: 'credential',
  health: 'credential_refused',
};
const FAILED: UpstreamVerdict = { movesOn: true, rejects: null, health: 'fault' };
const BUSY: UpstreamVerdict = { movesOn: true, rejects: null, health: 'neither' };
const THROTTLED: UpstreamVerdict = { movesOn: true, rejects: null, health: 'throttled' };

/** The 4xx that are not the client's own. All others pass through: another provider would reject the request too. */
const BY_STATUS: ReadonlyMap<number, UpstreamVerdict> = new Map([
  [401, CREDENTIAL_REFUSED],
  [402, CREDENTIAL_REFUSED],
  [403, CREDENTIAL_REFUSED],
  // A wrong base URL, or a model that the provider does not have.
  [404, FAILED],
  [407, CREDENTIAL_REFUSED],
  [408, FAILED],
  // A conflict or a request that came too early concerns this one request, not the endpoint.
  [409, BUSY],
  [425, BUSY],
  [429, THROTTLED],
]);

/** What a provider's status means for the request and for the endpoint: the one table of fallback and health. */
export function verdictOfStatus(status: number): UpstreamVerdict {
  if (status < 300) return SERVED;
  if (status < 400) return REDIRECTED;
  return BY_STATUS.get(status) ?? (status < 500 ? CLIENTS_OWN : FAILED);
}

/** The same for an attempt that ends with an `UpstreamFault`, that is, without a complete answer. */
export const FAULT_VERDICT: UpstreamVerdict = FAILED;

/**
 * Statuses that providers answer without regard to what the client sent. 403 and 404 are not among them: some providers answer so to
 * content that they reject, or to a reference in the request that they do not know.
 */
export function isContentIndependent(status: number): boolean {
  return (status >= 300 && status < 400) || status === 401 || status === 402 || status === 407;
}
