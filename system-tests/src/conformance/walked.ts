import type { GuardrailSim, ProviderSim } from '@relay/provider-sim';
import type { Accounts } from '../harness/accounts.ts';
import type { Objects } from '../harness/objects.ts';
import type { Answer, Sending } from './exchange.ts';
import type { Mode } from './mode.ts';

/** The largest body that every deployment of this suite takes on `/v1`. */
export const BODY_BYTES_MAX = 100_000;

/** A running deployment in one mode, as clients reach it. */
export interface Walked {
  readonly mode: Mode;
  readonly url: string;
  /** Opens every management route: the key of an owner, or the admin token. */
  readonly adminKey: string;
  /** Opens `/v1`: the same key, or the API token. */
  readonly apiKey: string;
  /** The two tokens of a self-hosted deployment. */
  readonly tokens: { readonly api: string; readonly admin: string } | null;
  /** The inference service behind the platform; null where one process does everything. */
  readonly inferenceUrl: string | null;
  readonly organizationId: string;
  readonly ownerId: string;
  /** One of everything in another organization. */
  readonly foreign: Objects;
  /** Puts organizations of other plans into the database, which no route does. */
  readonly accounts: Accounts;
  /** Takes the store of limits away for good; only the last statements do. */
  stopRedis(): Promise<void>;
  readonly provider: ProviderSim;
  readonly guardrails: GuardrailSim;
  /** Calls a route, by default with the key that opens it. */
  call(method: string, path: string, sending?: Sending): Promise<Answer>;
  /** Does the work on the first call under this name; every later call gets the same result. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>;
}
