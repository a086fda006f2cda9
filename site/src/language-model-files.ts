import type { Entry } from './navigation.ts';

/** A page as it was staged. */
export interface PlainPage {
  readonly page: string;
  readonly text: string;
}

const SUMMARY_CHARACTERS_MAX = 200;
/** Why things are built as they are is not what someone asks who uses them. */
const LEFT_OUT = /^(adr|project)\//;

/** /llms.txt: the navigation as a list of Markdown pages, each with its first sentence. */
export function languageModelIndex(
  summary: string,
  groups: readonly Entry[],
  pages: ReadonlyMap<string, string>,
): string {
  const line = (entry: Entry, indent = ''): string => {
    const page = pageOfLink(entry.link ?? '/');
    const said = firstSentence(pages.get(page) ?? '');
    const own = `${indent}- [${entry.text}](/${page})${said === '' ? '' : `: ${said}`}`;
    return [own, ...(entry.items ?? []).map((item) => line(item, `${indent}  `))].join('\n');
  };
  const sections = groups.map(
    ({ text, items }) => `## ${text}\n\n${(items ?? []).map((item) => line(item)).join('\n')}`,
  );
  return `# Relay\n\n> ${summary}\n\nAll pages in one file: [/llms-full.txt](/llms-full.txt). The API as OpenAPI: [/openapi.json](/openapi.json).\n\n${sections.join('\n\n')}\n`;
}

/** /llms-full.txt: every page for users, one after the other. */
export function languageModelText(pages: readonly PlainPage[]): string {
  return pages
    .filter(({ page }) => !LEFT_OUT.test(page))
    .map(({ page, text }) => `<!-- /${page} -->\n\n${withoutFrontMatter(text).trim()}\n`)
    .join('\n\n');
}

function pageOfLink(link: string): string {
  const path = link.slice(1);
  return path === '' || path.endsWith('/') ? `${path}index.md` : `${path}.md`;
}

/** The first sentence of the first paragraph that is prose. */
export function firstSentence(text: string): string {
  const paragraph = withoutFrontMatter(text)
    .split(/\n\s*\n/)
    .find((each) => /^[A-Z`[]/.test(each));
  const sentence = /^.*?[.:](?=\s|$)/s.exec((paragraph ?? '').replaceAll('\n', ' '))?.[0] ?? '';
  const plain = sentence.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/:$/, '.');
  return plain.length > SUMMARY_CHARACTERS_MAX ? `${plain.slice(0, SUMMARY_CHARACTERS_MAX - 1)}…` : plain;
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\n.*?\n---\n/s, '').replace(/^<!--.*?-->\n/s, '');
}
