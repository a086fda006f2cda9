import { type ErrorCode, type ErrorDefinition, type ErrorOwner, errorCodes, errors } from './errors.ts';
import { headerDescriptions, headerKeys, headers } from './headers.ts';

const owners: Readonly<Record<ErrorOwner, string>> = {
  client: 'The caller.',
  config: 'Anyone who can configure the deployment or organization.',
  capacity: 'Anyone who can edit limits, or the caller: see “What to do”.',
  upstream: 'The provider, or the operator of another service behind Relay: see “What to do”.',
  platform: 'The operator of the deployment.',
};

const RETRY_HELPS =
  'It can: the cause can pass within a minute. Relay sends `x-should-retry: true` after it has tried every candidate itself.';
const RETRY_FAILS =
  'No: the same request gets the same error. Relay sends `x-should-retry: false`, so that SDKs don’t repeat it.';

const PAGE_STYLE =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:40rem;margin:0 auto;padding:4rem 1.5rem}h1{font-size:1.5rem}h2{font-size:1rem}';

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
  return htmlDocument(code, [`<p>${inline(factsOf(code))}</p>`, ...sections]);
}

/** The index of the reference pages that a deployment serves, so that they can be read offline. */
export function referenceIndexHtml(): string {
  const listed = (items: readonly string[]) =>
    `<ul>\n${items.map((item) => `<li>${item}</li>`).join('\n')}\n</ul>`;
  const pages = errorCodes.map(
    (code) =>
      `<a href="${errorPagePath(code)}"><code>${code}</code></a> (${errors[code].status}): ${inline(errors[code].message)}`,
  );
  const meanings = headerKeys.map(
    (key) => `<code>${headers[key]}</code>: ${inline(headerDescriptions[key].meaning)}`,
  );
  return htmlDocument('Reference', [
    '<p><a href="/openapi.json">OpenAPI document</a>: every route with its fields, headers and errors. <code>relay --help</code> lists the commands.</p>',
    '<h2>Errors</h2>',
    listed(pages),
    '<h2>Headers</h2>',
    listed(meanings),
  ]);
}

export interface Refusal {
  readonly heading: string;
  readonly code: ErrorCode;
  /** What happened, why, and what to do. */
  readonly message: string;
  readonly requestId: string;
  /** Where the person can start again, and what the link says. */
  readonly back: { readonly path: string; readonly label: string };
}

/** An error on a route that a person visits with a browser. */
export function refusalPageHtml({ heading, code, message, requestId, back }: Refusal): string {
  return htmlDocument(heading, [
    `<p>${inline(message)}</p>`,
    `<p><a href="${back.path}">${inline(back.label)}</a></p>`,
    `<p>Error <a href="${errorPagePath(code)}">${code}</a>, request ID <code>${inline(requestId)}</code>.</p>`,
  ]);
}

function htmlDocument(heading: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${inline(heading)} · Relay</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>${inline(heading)}</h1>
${parts.join('\n')}
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
  const definition: ErrorDefinition = errors[code];
  const { message, why, fix, owner, retry, whenRetryHelps } = definition;
  return [
    { heading: 'Message', text: message },
    { heading: 'Why it happens', text: why },
    { heading: 'What to do', text: fix },
    { heading: 'Does a retry help?', text: whenRetryHelps ?? (retry ? RETRY_HELPS : RETRY_FAILS) },
    { heading: 'Who can fix it', text: owners[owner] },
  ];
}

/** Escapes HTML and renders `code` spans, the only markup that registry texts use. */
function inline(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
