import type { StartedServer } from '@relay/server';

type Started = Pick<StartedServer, 'url' | 'directory' | 'secretsPath' | 'tokens' | 'newTokens'>;

/** The next steps after a start. Contains tokens on the first start only. */
export function startedText(started: Started, demoLane: string | null): string {
  const { directory } = started;
  return [
    '',
    `  Relay is running at ${started.url}`,
    '',
    ...tokenLines(started),
    `  Console      ${consoleLink(started, '')}`,
    `  Data         ${directory}`,
    '',
    ...tryLines(started, demoLane),
    '  Ctrl+C stops it; the next `relay start` goes on with the same data.',
    '',
    '',
  ].join('\n');
}

/** The link of the first start signs in: browsers send no fragment, and the console removes it from the address. */
function consoleLink({ url, tokens, newTokens }: Started, page: string): string {
  const link = `${url}/console/${page}`;
  if (tokens === null) return link;
  return newTokens.admin
    ? `${link}#admin_token=${tokens.admin}  (signs you in)`
    : `${link}  (sign in with the admin token)`;
}

/** What to do with the lane that was set up. */
export function firstAnswerText(started: Started, lane: string): string {
  return `${tryLaneText(started, lane)}\n  Playground   ${consoleLink(started, 'playground')}\n`;
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

function tryLines(started: Started, demoLane: string | null): string[] {
  const { url, tokens } = started;
  if (tokens === null) return [];
  if (demoLane === null)
    return ['  Try it:', '', `    curl ${url}/v1/models ${authorizationOf(started)}`, ''];
  return [
    tryLaneText(started, demoLane),
    '  `relay demo traffic` in another terminal sends requests of every kind to look at.',
    '',
  ];
}

/** A command that works when pasted. */
function tryLaneText(started: Started, lane: string): string {
  const body = JSON.stringify({ model: lane, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    '  Try it:',
    '',
    `    curl ${started.url}/v1/chat/completions ${authorizationOf(started)} \\`,
    `      -H "Content-Type: application/json" -d '${body}'`,
    '',
  ].join('\n');
}

function authorizationOf({ tokens, newTokens }: Started): string {
  return `-H "Authorization: Bearer ${newTokens.api && tokens !== null ? tokens.api : '$RELAY_API_TOKEN'}"`;
}
