import { buildOpenApi, errorPageHtml, isErrorCode, referenceIndexHtml } from '@relay/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { RelayError } from '../domain/relay-error.ts';

const HEAD_TOO = { exposeHeadRoute: true };

/** The OpenAPI description, a page for each error code and an index, served by the deployment itself so that they work offline. */
export function mountReferencePages(app: FastifyInstance): void {
  // Built at the first request, because few ask for it.
  let openApi: string | null = null;
  app.get('/openapi.json', HEAD_TOO, async (_request, reply) => {
    openApi ??= JSON.stringify(buildOpenApi());
    return reply.type('application/json').send(openApi);
  });
  app.get<{ Params: { code: string } }>('/docs/errors/:code', HEAD_TOO, async (request, reply) => {
    const { code } = request.params;
    if (!isErrorCode(code))
      throw new RelayError('not_found', {
        message: 'No Relay error has this code. Check the code in the URL.',
      });
    return sendPage(reply, errorPageHtml(code));
  });
  app.get('/docs', HEAD_TOO, async (_request, reply) => sendPage(reply, referenceIndexHtml()));
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
  return reply.type('text/html; charset=utf-8').send(html);
}
