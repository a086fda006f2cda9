// `npm run site`: builds the documentation site into site/dist and checks what it built.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vitepress';
import { type BuiltFile, checkBuilt } from './check-built.ts';
import { homePage } from './home-page.ts';
import { languageModelIndex, languageModelText } from './language-model-files.ts';
import { navigation } from './navigation.ts';
import { type Document, documentOf, REPOSITORY, readDocuments, readText } from './read-documents.ts';
import { siteFolders, siteSettings } from './settings.ts';
import { PICTURES, type StagedPage, stagePage } from './stage-page.ts';

const { pages: PAGES, built: BUILT } = siteFolders;

function stageAll(documents: readonly Document[], repositoryUrl: string | null): StagedPage[] {
  const pages = new Map(documents.map(({ path, page }) => [path, page]));
  // The README is the front page; a link to a folder of documents leads to its first page.
  pages.set('README.md', 'index.md');
  for (const { path, page } of documents)
    if (path.endsWith('/README.md')) pages.set(path.slice(0, -'/README.md'.length), page);
  const readme = stagePage(documentOf('README.md', readText('README.md')), pages, repositoryUrl);
  return documents.map((document) => {
    const staged = stagePage(document, pages, repositoryUrl);
    if (document.page !== 'index.md') return staged;
    const pictures = [...staged.pictures, ...readme.pictures];
    return { ...staged, text: homePage(readme.text, staged.text), pictures };
  });
}

function writeStaged(staged: readonly StagedPage[]): void {
  rmSync(PAGES, { recursive: true, force: true });
  for (const { page, text, pictures } of staged) {
    write(join(PAGES, page), text);
    for (const picture of pictures)
      cpSync(join(REPOSITORY, picture), join(PAGES, 'public', PICTURES, picture));
  }
  cpSync(join(REPOSITORY, 'console/public/icon.svg'), join(PAGES, 'public/icon.svg'));
}

/** Each page also as Markdown, and lists of them, for programs that read the documentation. */
function writePlainFiles(documents: readonly Document[], staged: readonly StagedPage[]): void {
  const pages = new Map(staged.map(({ page, text }) => [page, text]));
  const opening = readText('README.md').split('\n\n')[1] ?? '';
  for (const { page, text } of staged) write(join(BUILT, page), text);
  write(join(BUILT, 'llms.txt'), languageModelIndex(opening, navigation(documents), pages));
  write(join(BUILT, 'llms-full.txt'), languageModelText(staged));
  cpSync(join(REPOSITORY, 'contract/openapi.json'), join(BUILT, 'openapi.json'));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function readBuilt(): { files: BuiltFile[]; paths: Set<string> } {
  const paths = readdirSync(BUILT, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(BUILT.length + 1)
        .replaceAll('\\', '/'),
    );
  const texts = paths.filter((path) => /\.(html|css)$/.test(path));
  return {
    files: texts.map((path) => ({ path, text: readFileSync(join(BUILT, path), 'utf8') })),
    paths: new Set(paths),
  };
}

async function main(): Promise<number> {
  const startedMs = performance.now();
  const { base, repositoryUrl } = siteSettings(process.env);
  const documents = readDocuments();
  const staged = stageAll(documents, repositoryUrl);
  writeStaged(staged);
  await build(siteFolders.member);
  writePlainFiles(documents, staged);
  const { files, paths } = readBuilt();
  const { links, broken, external } = checkBuilt(files, paths, base);
  for (const line of [...broken, ...external]) process.stdout.write(`${line}\n`);
  const built = files.filter(({ path }) => path.endsWith('.html')).length;
  const missing = documents.filter(({ page }) => !paths.has(page.replace(/\.md$/, '.html')));
  for (const { path } of missing) process.stdout.write(`${path} has no page\n`);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  process.stdout.write(
    `${JSON.stringify({ pages: built, links, broken: broken.length, external: external.length, seconds })}\n`,
  );
  return broken.length + external.length + missing.length === 0 && built > 0 ? 0 : 1;
}

process.exitCode = await main();
