import { boolean, bytes, type Column, defaulted, jsonOf, nullable, text, timestamp } from './columns.ts';

/** What one process says of one secret: values by their check IDs. */
export interface AnnouncedSecret {
  readonly accepts: readonly string[];
  /** Null while the deployment has recorded none. */
  readonly uses: string | null;
  /** When a client last sent an earlier value. */
  readonly earlierUsedAtMs?: number;
}

/** By environment variable; only the secrets that the process needs. */
export type AnnouncedSecrets = Readonly<Record<string, AnnouncedSecret>>;

/** What PostgreSQL holds about secrets: see `store/secrets/README.md`. */
export const secretTables = {
  secret_checks: {
    name: text,
    check_id: text,
    sealed_check_key: nullable(bytes),
    active: boolean,
    since: nullable(timestamp),
  },
  live_processes: {
    id: text,
    role: text,
    host: text,
    secrets: jsonOf<AnnouncedSecrets>(),
    seen_at: defaulted(timestamp),
  },
} satisfies Record<string, Record<string, Column<unknown, unknown, unknown>>>;
