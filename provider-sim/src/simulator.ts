import type { Access } from './access/access.ts';
import type { ServiceAccounts } from './access/service-accounts.ts';
import type { Counts } from './counts.ts';
import type { Fault } from './fault.ts';
import type { ScriptRule } from './fault-script.ts';
import type { SimModel } from './models.ts';
import type { BodyRetention, RequestLogEntry } from './request-log.ts';

export interface ProviderSimOptions {
  /** 0, the default, takes a free port. */
  port?: number;
  host?: string;
  /** The API keys it knows; any non-empty key unless given. */
  keys?: string[];
  /** Serve requests without a key, as a provider without authentication does. */
  anonymous?: boolean;
  /** Replaces the check of keys: AWS signatures, or tokens of service accounts. */
  access?: Access;
  /** The service accounts whose tokens it takes; adds the token endpoint `POST /token`. */
  serviceAccounts?: ServiceAccounts;
  /** HTTPS, for clients with a certificate of this authority alone. All as PEM. */
  tls?: { cert: string; key: string; clientAuthority: string };
  /** Serve the operations below any path, and not below `/v1` alone. */
  anyPrefix?: boolean;
  /** Serve the paths of Ollama's own interface too, by which clients find it. */
  ollama?: boolean;
  /** A bare name serves every operation. */
  models?: (string | SimModel)[];
  seed?: number;
  bodies?: BodyRetention;
  logEntriesMax?: number;
  logBodyBytesMax?: number;
  requestBytesMax?: number;
  /** Plays the model: the frames of a stream, any fault, or null for the usual words. Scripted faults act on them as on any response. */
  play?: Play;
}

export type Play = (
  request: Pick<RequestLogEntry, 'path' | 'model' | 'stream'>,
  body: Buffer,
) => string[] | Fault | null;

export interface ProviderSim {
  /** The origin. */
  url: string;
  /** The origin and `/v1`, as clients are configured with. */
  baseUrl: string;
  port: number;
  /** Oldest first; bounded, so a long run keeps only its latest part. */
  log: RequestLogEntry[];
  counts(key?: string): Counts;
  countsByKey(): Record<string, Counts>;
  script(...rules: ScriptRule[]): void;
  /** Rules go; the log and the counts stay. */
  clearScript(): void;
  reset(): void;
  openStreams(): number;
  openRequests(): number;
  /** The first logged request that satisfies the predicate, now or later. */
  waitFor(
    predicate: (entry: RequestLogEntry) => boolean,
    options?: { timeoutMs?: number },
  ): Promise<RequestLogEntry>;
  /** Closes the listener, so that connecting is refused by the system, for that long or until `acceptConnections`. */
  refuseConnections(forMs?: number): Promise<void>;
  acceptConnections(): Promise<void>;
  close(): Promise<void>;
}
