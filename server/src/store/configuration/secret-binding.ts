/**
 * What a stored secret is sealed to: the organization, the provider (or guardrail) it belongs to, and which
 * secret of that place it is. A row copied to another organization or provider, or an older secret put back,
 * does not open.
 */
export function secretBinding(place: {
  organizationId: string;
  /** The provider of a credential; for the secret of a guardrail, the guardrail. */
  ownerId: string;
  secretVersion: number;
}): string[] {
  return [place.organizationId, place.ownerId, String(place.secretVersion)];
}
