import { type ErrorCode, type ErrorOwner, errors } from './errors.ts';

const owners: Readonly<Record<ErrorOwner, string>> = {
  client: 'the caller: the request has to change',
  config: 'whoever configures the deployment or organization',
  capacity: 'whoever sets the limits, or time: capacity frees up by itself',
  upstream: 'the provider or another service behind Relay',
  platform: 'the operator of the deployment',
};

interface Section {
  readonly heading: string;
  readonly text: string;
}

/** Where the page of a code lives below the origin of the deployment. */
export function errorPagePath(code: ErrorCode): string {
  return `/docs/errors/${code}`;
}

/** The page of a code as Markdown, as the repository’s reference has it. */
export function errorPageMarkdown(code: ErrorCode): string {
  const sections = sectionsOf(code).map(({ heading, text }) => `## ${heading}\n\n${text}\n`);
  return `# ${code}\n\n${factsOf(code)}\n\n${sections.join('\n')}`;
}

/** The same page as HTML, as the deployment serves it: no script, no outside resource. */
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
    { heading: 'Who can act', text: `It is for ${owners[owner]}.` },
  ];
}

/** Escapes HTML and turns `code` spans into elements; registry texts use no other markup. */
function inline(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
