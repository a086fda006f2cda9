import { errorCodes, errorPageMarkdown, errors } from '@relay/contract';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

const folder = 'docs/reference/errors';

export function errorFiles(): GeneratedFile[] {
  const pages = errorCodes.map((code) => generatedPage(`${folder}/${code}.md`, errorPageMarkdown(code)));
  return [overview(), ...pages];
}

function overview(): GeneratedFile {
  const rows = errorCodes.map((code) => {
    const { status, type, owner, message, retry } = errors[code];
    return [`[${code}](${code}.md)`, String(status), `\`${type}\``, owner, retry ? 'yes' : 'no', message];
  });
  const body = `# Errors

Every error from Relay has one of these codes in \`error.code\`, and \`error.doc_url\` points to its page. A response
with \`x-relay-error-source: upstream\` contains the provider’s own error. Relay removes the provider’s credential from the error, and
translates the error if the client uses another protocol.

“Retry” is the value of \`x-should-retry\`: whether the same request can succeed within a minute without a change of the request or the configuration. Relay has
then tried every candidate of the lane; a retry tries them again. OpenAI’s and Anthropic’s SDKs obey the header. The AI SDK doesn’t read it and
repeats every 429 and 5xx: set its \`maxRetries\` to 0 where that costs too much. Two codes differ by occasion:
[upstream_invalid_response](upstream_invalid_response.md) is \`true\` if the response was cut off, and
[rate_limit_wait_budget_exceeded](rate_limit_wait_budget_exceeded.md) is \`false\` if a provider asked for a pause of more than a minute.

${markdownTable(['Code', 'Status', 'Type', 'Where to fix it', 'Retry', 'Message'], rows)}`;
  return generatedPage(`${folder}/README.md`, body);
}
