import type { StartedServer } from '@relay/server';

type Started = Pick<StartedServer, 'url' | 'directory' | 'secretsPath' | 'tokens' | 'newTokens'>;

/** The next steps after a start. Contains tokens on the first start only. */
export function startedText(started: Started, demoLane: string | null): string {
  const { url, directory, tokens } = started;
  return [
    '',
    `  Relay is running at ${url}`,
    '',
    ...tokenLines(started),
    `  Console      ${url}/console/${tokens === null ? '' : '  (sign in with the admin token)'}`,
    `  Data         ${directory}`,
    '',
    ...tryLines(started, demoLane),
    '  Ctrl+C stops it; the next `relay start` goes on with the same data.',
    '',
    '',
  ].join('\n');
}

function tokenLines({ tokens, newTokens, secretsPath }: Started): string[] {
  if (tokens === null) return [];
  const lines = [
    ...(newTokens.api ? [`  API token    ${tokens.api}    for applications`] : []),
    ...(newTokens.admin
      ? [`  Admin token  ${tokens.admin}  for the console and the management interface`]
      : []),
  ];
  if (lines.length === 0) return [`  Tokens       in ${secretsPath}, or as the environment says`];
  return [...lines, `               Shown this once, and kept in ${secretsPath}`, ''];
}

/** A command that works when pasted. */
function tryLines({ url, tokens, newTokens }: Started, demoLane: string | null): string[] {
  if (tokens === null) return [];
  const token = newTokens.api ? tokens.api : '$RELAY_API_TOKEN';
  const authorization = `-H "Authorization: Bearer ${token}"`;
  if (demoLane === null) return ['  Try it:', '', `    curl ${url}/v1/models ${authorization}`, ''];
  const body = JSON.stringify({ model: demoLane, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    '  Try it:',
    '',
    `    curl ${url}/v1/chat/completions ${authorization} \\`,
    `      -H "Content-Type: application/json" -d '${body}'`,
    '',
    '  `relay demo traffic` in another terminal sends requests of every kind to look at.',
    '',
  ];
}
