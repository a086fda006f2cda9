import { posix } from 'node:path';
import type { Document } from './read-documents.ts';

export interface StagedPage {
  readonly page: string;
  readonly text: string;
  /** Pictures that it shows, by their path in the repository. */
  readonly pictures: readonly string[];
}

/** Where pictures are on the site. */
export const PICTURES = 'assets-of-pages';

/**
 * A document as the site shows it: links lead to pages, pictures to their copies. What is not on the site is linked in the
 * repository, or set as plain text when its address is not known.
 */
export function stagePage(
  { path, page, text }: Document,
  pages: ReadonlyMap<string, string>,
  repositoryUrl: string | null,
): StagedPage {
  const pictures: string[] = [];
  const place = (target: string): string | null => {
    const [file = '', anchor] = target.split('#');
    if (/^[a-z]+:/.test(target) || file === '') return target;
    const there = posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, '');
    if (/\.(webp|svg|png)$/.test(there)) {
      pictures.push(there);
      return `/${PICTURES}/${there}`;
    }
    const known = pages.get(there);
    if (known !== undefined) return `/${known}${anchor === undefined ? '' : `#${anchor}`}`;
    return repositoryUrl === null ? null : `${repositoryUrl}/${there}`;
  };
  const staged = outsideOfFences(text, (line) =>
    line.replaceAll(
      /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
      (_, mark: string, label: string, target: string) => {
        const placed = place(target);
        return placed === null ? label : `${mark}[${label}](${placed})`;
      },
    ),
  );
  return { page, text: staged, pictures };
}

/** Changes lines outside of code blocks; marks for the snippet tests are dropped from the fences. */
function outsideOfFences(text: string, change: (line: string) => string): string {
  let fenced = false;
  return text
    .split('\n')
    .map((line) => {
      const fence = /^(\s*(?:```|~~~))([\w-]*)/.exec(line);
      if (fence === null) return fenced ? line : change(line);
      fenced = !fenced;
      return `${fence[1]}${fence[2]}`;
    })
    .join('\n');
}
