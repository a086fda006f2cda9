import { invalidField } from './refusals.ts';

const SLUG = /^[\p{L}\p{N}\p{M}]+(?:-[\p{L}\p{N}\p{M}]+)*$/u;

/** What a name can become, and nothing else: clients call lanes by it, and a slash would divide it. */
export function demandSlug(slug: string): void {
  if (SLUG.test(slug) && slug === slug.toLowerCase()) return;
  throw invalidField('slug', 'slug must be lower-case letters and digits with single hyphens between.');
}
