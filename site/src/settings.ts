import { join } from 'node:path';

const MEMBER = join(import.meta.dirname, '..');
const WORK = join(MEMBER, '.cache');

export const siteFolders = {
  member: MEMBER,
  work: WORK,
  /** Documents as the site shows them. */
  pages: join(WORK, 'pages'),
  built: join(MEMBER, 'dist'),
};

export interface SiteSettings {
  /** The path below which the site is served, with slashes on both ends. */
  readonly base: string;
  /** Where files of the repository can be read that are not on the site. */
  readonly repositoryUrl: string | null;
}

export function siteSettings(env: Readonly<Record<string, string | undefined>>): SiteSettings {
  return {
    base: `/${(env['RELAY_SITE_BASE'] ?? '').replaceAll(/^\/+|\/+$/g, '')}/`.replace('//', '/'),
    repositoryUrl: env['RELAY_SITE_REPOSITORY']?.replace(/\/+$/, '') ?? null,
  };
}
