import { invalidField } from './refusals.ts';

const SLUG = /^[\p{L}\p{N}\p{M}]+(?:-[\p{L}\p{N}\p{M}]+)*$/u;

/**
 * Rejects a slug that no name would produce. Clients call lanes by slug, and keys in the configuration file
 * join slugs with a slash.
 */
export function demandSlug(slug: string): void {
  if (SLUG.test(slug) && slug === slug.toLowerCase()) return;
  throw invalidField('slug', 'slug must be lowercase letters and digits, separated by single hyphens.');
}
