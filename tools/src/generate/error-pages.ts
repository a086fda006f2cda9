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
with \`x-relay-error-source: upstream\` contains the provider’s own error. Relay removes the provider’s credential from the error, and
translates the error if the client uses another protocol.

${markdownTable(['Code', 'Status', 'Type', 'Where to fix it', 'Message'], rows)}`;
  return generatedPage(`${folder}/README.md`, body);
}
