import type { StartedServer } from '@relay/server';

type Started = Pick<StartedServer, 'url' | 'secretsPath' | 'tokens' | 'newTokens' | 'newSignInCode'>;

/** The next steps after a start. Contains tokens on the first start only, and a link that signs in only if asked to. */
export function startedText(started: Started, demoLane: string | null, withLink: boolean): string {
  const { url, tokens } = started;
  return [
    '',
    tokens !== null && withLink
      ? '  Relay is running. This sign-in link works once and expires in 1 hour:'
      : '  Relay is running.',
    '',
    `    ${consoleLink(started, '', withLink)}`,
    '',
    `  API          ${url}/v1`,
    ...tokenLines(started),
    ...tryLines(started, demoLane),
    '  Ctrl+C stops Relay. The next `relay start` continues with the same data.',
    '',
    '',
  ].join('\n');
}

/** Browsers do not send what is after #, and the console removes it from the address. */
function consoleLink({ url, tokens, newSignInCode }: Started, page: string, withLink: boolean): string {
  const link = `${url}/console/${page}`;
  if (tokens === null) return link;
  return withLink ? `${link}#sign_in=${newSignInCode()}` : `${link} (sign in with the admin token)`;
}

/** What to do with the lane that was set up. */
export function firstAnswerText(started: Started, lane: string, withLink: boolean): string {
  return `${tryLaneText(started, lane)}\n  Playground   ${consoleLink(started, 'playground', withLink)}\n`;
}

function tokenLines({ tokens, newTokens, secretsPath }: Started): string[] {
  if (tokens === null) return [''];
  const lines = [
    ...(newTokens.api ? [`  API token    ${tokens.api}    for applications`] : []),
    ...(newTokens.admin ? [`  Admin token  ${tokens.admin}  for the management API`] : []),
  ];
  if (lines.length === 0) return [`  Tokens       in ${secretsPath}, or in the environment`, ''];
  return [...lines, `               Shown only once; stored in ${secretsPath}`, ''];
}

function tryLines(started: Started, demoLane: string | null): string[] {
  const { url, tokens } = started;
  if (tokens === null) return [];
  if (demoLane === null)
    return ['  Try it:', '', `    curl ${url}/v1/models ${authorizationOf(started)}`, ''];
  return [
    tryLaneText(started, demoLane),
    '  To send sample traffic, run in another terminal: relay demo traffic',
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
