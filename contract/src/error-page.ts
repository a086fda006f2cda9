import { type ErrorCode, type ErrorOwner, errors } from './errors.ts';

const owners: Readonly<Record<ErrorOwner, string>> = {
  client: 'The caller: change the request.',
  config: 'Anyone who can configure the deployment or organization.',
  capacity: 'Anyone who can edit limits. Capacity also frees up over time.',
  upstream: 'The provider, or another service behind Relay.',
  platform: 'The operator of the deployment.',
};

interface Section {
  readonly heading: string;
  readonly text: string;
}

/** The path of a code's page on the deployment itself. */
export function errorPagePath(code: ErrorCode): string {
  return `/docs/errors/${code}`;
}

/** The page as Markdown, for the repository’s reference. */
export function errorPageMarkdown(code: ErrorCode): string {
  const sections = sectionsOf(code).map(({ heading, text }) => `## ${heading}\n\n${text}\n`);
  return `# ${code}\n\n${factsOf(code)}\n\n${sections.join('\n')}`;
}

/** The same page as the deployment serves it: HTML without scripts or external resources. */
export function errorPageHtml(code: ErrorCode): string {
  const sections = sectionsOf(code).map(
    ({ heading, text }) => `<h2>${inline(heading)}</h2>\n<p>${inline(text)}</p>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${code} · Relay</title>
</head>
<body>
<main>
<h1>${code}</h1>
<p>${inline(factsOf(code))}</p>
${sections.join('\n')}
</main>
</body>
</html>
`;
}

function factsOf(code: ErrorCode): string {
  const { status, type } = errors[code];
  return `Status \`${status}\`, type \`${type}\`, code \`${code}\`.`;
}

function sectionsOf(code: ErrorCode): Section[] {
  const { message, why, fix, owner } = errors[code];
  return [
    { heading: 'What it says', text: message },
    { heading: 'Why it happens', text: why },
    { heading: 'What to do', text: fix },
    { heading: 'Who can fix it', text: owners[owner] },
  ];
}

/** Escapes HTML and renders `code` spans, the only markup that registry texts use. */
function inline(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
