import {
  credentialWords,
  type HeaderKey,
  headerDescriptions,
  headers,
  headersToClient,
  headersToProvider,
} from '@relay/contract';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

const ON = {
  any: 'all requests, also translated ones',
  openai: 'requests of OpenAI’s protocols that aren’t translated',
  anthropic: 'Messages requests that aren’t translated',
};

export function headersPage(): GeneratedFile[] {
  const keys = Object.keys(headers) as HeaderKey[];
  const rows = keys.map((key) => {
    const { direction, type, on, meaning } = headerDescriptions[key];
    return [`\`${headers[key]}\``, direction, type, on, meaning];
  });
  const toProvider = headersToProvider.map(({ name, only, why }) => [`\`${name}\``, ON[only ?? 'any'], why]);
  const toClient = headersToClient.map(({ name, why }) => [`\`${name}\``, why]);
  const words = credentialWords.map((word) => `\`${word}\``).join(', ');
  const body = `# Headers

Header names are case-insensitive. Relay drops inbound \`x-relay-*\` headers; they never reach a provider.

${markdownTable(['Header', 'Direction', 'Type', 'On', 'Meaning'], rows)}
## What passes to the provider

Relay passes on these headers of the client, and no others. Credentials, cookies, hop-by-hop and forwarding headers and \`Idempotency-Key\` stay at
Relay, as do \`openai-organization\` and \`openai-project\`, because the operator decides who is billed. To send a provider a constant header, set
its \`extra_headers\`, which replace headers of the same name.

${markdownTable(['Header', 'On', 'Why'], toProvider)}

Relay itself sets \`content-type\`, the provider’s authentication, and \`accept-encoding\`: the client’s, without the encodings that Relay can’t read.

A request that isn’t translated keeps its query, such as \`?beta=true\`. The provider’s \`extra_query\` replaces parameters of the same name.
Relay leaves out every parameter whose name contains ${words}, in any case, or whose value contains a key of Relay. A translated
request has no query of the client.

## What passes to the client

Relay passes on these headers of the provider, and no others, and none that contains the provider’s credential.

${markdownTable(['Header', 'Why'], toClient)}`;
  return [generatedPage('docs/reference/headers.md', body)];
}
