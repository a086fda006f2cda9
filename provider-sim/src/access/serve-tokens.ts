import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceAccounts } from './service-accounts.ts';

/** The token endpoint. Its requests are in no log and no count. */
export async function serveTokens(
  accounts: ServiceAccounts,
  tokenUri: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const [status, body] = accounts.issue(new URLSearchParams(Buffer.concat(chunks).toString()), tokenUri);
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}
