import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { Secret } from '../secret.ts';
import { createShares, type Shares } from '../shares.ts';
import { type AddressPolicy, createAddressPolicy } from './address.ts';
import { type OutgoingBody, outgoing } from './outgoing-body.ts';
import { SharingHandler } from './sharing-handler.ts';
import { checkTargetUrl, type TargetUrl, type TargetUrlProblem } from './target-url.ts';

/** What a paused connection reads ahead, besides a read in progress; undici's default is 64 KiB. */
const SOCKET_BYTES_MAX = 16 * 1024;

export interface EgressOptions {
  /** Networks that may be reached although they are not public. */
  readonly allowedCidrs: readonly string[];
  readonly connectTimeoutMs: number;
  /** Each stream holds a connection, so this bounds the streams to one origin. */
  readonly connectionsPerOriginMax: number;
  /** Whether the owners of requests have shares of an origin's connections; otherwise one owner may hold all of them. */
  readonly shared?: boolean;
  /** Above this number of origins, idle pools are closed, oldest first. */
  readonly originsMax: number;
  readonly lookup?: LookupFunction;
}

export type EgressHandler = Dispatcher.DispatchHandler;
export type EgressController = Dispatcher.DispatchController;

/** A client certificate. */
export interface ClientIdentity {
  /** Differs for each certificate and key. */
  readonly id: string;
  /** PEM: the certificate, then those that vouch for it. */
  readonly certificates: string;
  /** PEM. */
  readonly key: Secret;
}

export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: OutgoingBody | null;
  /** Left out: TLS without a client certificate. */
  identity?: ClientIdentity;
}

/** Owners take turns at an origin whose connections are scarce. */
export type EgressOwner = string;

/** The only module that makes outgoing HTTP requests. It follows no redirects and checks every address when it connects. */
export interface Egress {
  dispatch(origin: string, request: EgressRequest, handler: EgressHandler, owner: EgressOwner): void;
  check(url: string): TargetUrl | TargetUrlProblem;
  close(): Promise<void>;
}

/** The address that a host name resolved to, or the literal address in the URL, is blocked. */
export class AddressRefusedError extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';
}

interface SharedPool {
  readonly pool: Pool;
  /** Null where one owner may hold every connection. */
  readonly shares: Shares | null;
}

export function createEgress(options: EgressOptions): Egress {
  const policy = createAddressPolicy(options.allowedCidrs);
  const anonymous = vettingConnector(policy, options);
  /** By origin, and by client certificate: a connection belongs to the certificate that it was made with. */
  const pools = new Map<string, SharedPool>();

  function poolOf(origin: string, identity: ClientIdentity | undefined): SharedPool {
    const name = identity === undefined ? origin : `${origin} ${identity.id}`;
    const known = pools.get(name);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connect: identity === undefined ? anonymous : vettingConnector(policy, options, identity),
      connections: options.connectionsPerOriginMax,
      pipelining: 1,
      // The caller sets deadlines for each endpoint; undici's own are coarse and the same for all.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    });
    // Idle pools are closed first: the new pool has no requests yet and would count as idle.
    closeIdlePools(pools, options.originsMax - 1);
    const shares = options.shared === true ? createShares(options.connectionsPerOriginMax) : null;
    const made = { pool, shares };
    pools.set(name, made);
    return made;
  }

  return {
    dispatch(origin, request, handler, owner) {
      const { pool, shares } = poolOf(origin, request.identity);
      if (shares === null) pool.dispatch(outgoing(request), handler);
      else
        shares.take(owner, (giveBack) =>
          pool.dispatch(outgoing(request), new SharingHandler(handler, giveBack)),
        );
    },
    check: (url) => checkTargetUrl(url, policy),
    async close() {
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
    },
  };
}

/** Oldest first. Pools with requests are skipped, so a busy origin keeps its connections. */
function closeIdlePools(pools: Map<string, SharedPool>, originsMax: number): void {
  if (pools.size <= originsMax) return;
  for (const [origin, { pool }] of pools) {
    if (pools.size <= originsMax) return;
    if (pool.stats.running > 0 || pool.stats.pending > 0 || pool.stats.queued > 0) continue;
    pools.delete(origin);
    pool.close().catch(() => undefined);
  }
}

function vettingConnector(
  policy: AddressPolicy,
  options: EgressOptions,
  identity?: ClientIdentity,
): buildConnector.connector {
  const socketOptions = {
    ...(identity === undefined ? {} : { cert: identity.certificates, key: identity.key.reveal() }),
    timeout: options.connectTimeoutMs,
    allowH2: false,
    lookup: vettingLookup(policy, options.lookup ?? lookupName),
    highWaterMark: SOCKET_BYTES_MAX,
  };
  const connect = buildConnector(socketOptions);
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // Literal addresses are not looked up, so they are checked here.
    if (isIP(host) !== 0 && !policy.allows(host)) {
      callback(
        new AddressRefusedError(`the address ${host} is in a network that this deployment doesn’t allow`),
        null,
      );
      return;
    }
    connect(target, callback);
  };
}

const lookupName: LookupFunction = (hostname, options, callback) => systemLookup(hostname, options, callback);

function vettingLookup(policy: AddressPolicy, lookup: LookupFunction): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    lookup(hostname, { ...lookupOptions, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      const addresses = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }];
      const refused = addresses.find(({ address }) => !policy.allows(address));
      const first = addresses[0];
      if (refused !== undefined || first === undefined) {
        const why = `${hostname} resolves to an address in a network that this deployment doesn’t allow`;
        return callback(new AddressRefusedError(why), '', 0);
      }
      if (lookupOptions.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}
