import { type HeaderKey, headerDescriptions, headers } from '@relay/contract';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

export function headersPage(): GeneratedFile[] {
  const keys = Object.keys(headers) as HeaderKey[];
  const rows = keys.map((key) => {
    const { direction, type, on, meaning } = headerDescriptions[key];
    return [`\`${headers[key]}\``, direction, type, on, meaning];
  });
  const body = `# Headers

Header names are case-insensitive. Relay drops inbound \`x-relay-*\` headers; they never reach a provider.

${markdownTable(['Header', 'Direction', 'Type', 'On', 'Meaning'], rows)}`;
  return [generatedPage('docs/reference/headers.md', body)];
}
