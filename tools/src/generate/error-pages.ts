import { errorCodes, errorPageMarkdown, errors } from '@relay/contract';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

const folder = 'docs/reference/errors';

export function errorFiles(): GeneratedFile[] {
  const pages = errorCodes.map((code) => generatedPage(`${folder}/${code}.md`, errorPageMarkdown(code)));
  return [overview(), ...pages];
}

function overview(): GeneratedFile {
  const rows = errorCodes.map((code) => {
    const { status, type, owner, message } = errors[code];
    return [`[${code}](${code}.md)`, String(status), `\`${type}\``, owner, message];
  });
  const body = `# Errors

Every error from Relay has one of these codes in \`error.code\`, and \`error.doc_url\` points to its page. A response
with \`x-relay-error-source: upstream\` comes from the provider and is passed through unchanged.

${markdownTable(['Code', 'Status', 'Type', 'Owner', 'Message'], rows)}`;
  return generatedPage(`${folder}/README.md`, body);
}
