import { type ApiKeyCreate, expandScopes, isScope, type Labels, type Scope } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import { invalidField, listNames } from '../resources/refusals.ts';
import { demandLabels } from './attribution.ts';

export interface RequestedKey {
  readonly name: string;
  /** Including implied scopes, in the order of `allScopes`. */
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly teamId: string | null;
  readonly labels: Labels;
}

/** Reads a key from the body. Throws 400 for invalid fields; the caller's permissions are checked later. */
export function requestedKey(body: ApiKeyCreate, nowMs: number): RequestedKey {
  demandStorable({ name: body.name });
  demandLabels(body.labels);
  return {
    name: body.name,
    scopes: knownScopes(body.scopes),
    expiresAt: expiryOf(body.expires_at, nowMs),
    teamId: body.team_id ?? null,
    labels: body.labels ?? {},
  };
}

const SHOWN_CHARACTERS_MAX = 60;

function knownScopes(names: readonly string[]): Scope[] {
  const unknown = names.filter((name) => !isScope(name));
  if (unknown.length === 0) return expandScopes(names.filter(isScope));
  const shown = [...new Set(unknown)].map((name) => name.slice(0, SHOWN_CHARACTERS_MAX));
  const [what, verb] = shown.length === 1 ? ['a scope', 'is not'] : ['scopes', 'are not'];
  throw invalidField(
    'scopes',
    `scopes: ${listNames(shown)} ${verb} ${what}. GET /api/account/api-key-scopes lists the scopes that a key can have.`,
  );
}

function expiryOf(text: string | null | undefined, nowMs: number): Date | null {
  if (text === null || text === undefined) return null;
  const expiresAt = new Date(text);
  // Also false for a time that the schema accepts and `Date` does not, such as a leap second.
  if (expiresAt.getTime() > nowMs) return expiresAt;
  throw invalidField(
    'expires_at',
    'expires_at must be a time in the future, or null for a key that does not expire.',
  );
}
