import { join } from 'node:path';
import { headingAnchor } from '@relay/tools';
import { type DefaultTheme, defineConfig, type UserConfig } from 'vitepress';
import { navigation } from './navigation.ts';
import { readDocuments } from './read-documents.ts';
import { siteFolders, siteSettings } from './settings.ts';

/** Browsers then fetch nothing from elsewhere, whatever a page or a dependency asks for. */
const POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'none'";

export function siteConfig(): UserConfig<DefaultTheme.Config> {
  const { base, repositoryUrl } = siteSettings(process.env);
  return defineConfig({
    title: 'Relay',
    description: 'The LLM gateway that tells you what a change will do, and keeps your limits.',
    lang: 'en-US',
    base,
    srcDir: siteFolders.pages,
    outDir: siteFolders.built,
    cacheDir: join(siteFolders.work, 'vitepress'),
    // The build looks for dead links itself, in what it wrote.
    ignoreDeadLinks: true,
    head: [
      ['meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }],
      ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }],
    ],
    markdown: {
      anchor: { slugify: headingAnchor },
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    },
    themeConfig: {
      logo: '/icon.svg',
      search: { provider: 'local', options: { detailedView: true } },
      nav: [
        { text: 'Guides', link: '/start/one-minute', activeMatch: '/(start|guides|clients|providers)/' },
        { text: 'Operate', link: '/start/self-host', activeMatch: '/(operate|runbooks)/' },
        { text: 'API', link: '/reference/api/', activeMatch: '/reference/' },
      ],
      sidebar: navigation(readDocuments()) as DefaultTheme.SidebarItem[],
      outline: { level: [2, 3] },
      docFooter: { prev: 'Previous', next: 'Next' },
      externalLinkIcon: true,
      footer: {
        message: 'Apache-2.0. Built from the repository. No cookies, no third-party requests.',
      },
      ...(repositoryUrl === null
        ? {}
        : { socialLinks: [{ icon: 'github', link: repositoryUrl.replace(/\/blob\/.*$/, '') }] }),
    },
  });
}
