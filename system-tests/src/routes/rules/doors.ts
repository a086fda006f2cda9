import { specInferenceRoutes, specManagementRoutes } from '@relay/contract/specification';
import { relayFetch } from '../../harness/relay-fetch.ts';
import { CHAT, contents, type Scene } from './scene.ts';

/** Inference is below `/v1`, management is not, and the description says so of every route. */
export async function checkPaths({ world: { walk, client }, owner }: Scene): Promise<void> {
  const { body } = await walk.expect({ ...owner, headers: {} }, 'GET /openapi.json', '200');
  const { info, paths } = body as {
    info: { version: string };
    paths: Record<string, Record<string, { servers?: { url: string }[] }>>;
  };
  if (info.version !== '1.0.0') walk.fault(`the description is at version ${info.version}`);
  for (const { line, method, path, server, bodyFields } of [
    ...specInferenceRoutes,
    ...specManagementRoutes,
  ]) {
    const operation = paths[path]?.[method.toLowerCase()];
    const isInference = server === '{base_url}';
    if (operation === undefined || (operation.servers?.[0]?.url === '{api_origin}') === isInference)
      walk.fault(`the description has ${line} at another server`);
    const wrong = (isInference ? path : `/v1${path}`).replaceAll(/\{\w+\}/g, 'x');
    const sending = bodyFields === undefined ? {} : { body: {} };
    const answer = await walk.send(isInference ? client : owner, `${method} ${wrong}`, sending);
    const isPage = isInference && answer.headers.get('content-type')?.startsWith('text/html') === true;
    if (answer.status !== 404 && !isPage) walk.fault(`${answer.line} is ${answer.summary}`);
  }
}

/** The inference service serves the platform: neither keys nor contexts of a client, and no management. */
export async function checkDirectInference({
  world: { walk, client, inferenceUrl },
  owner,
}: Scene): Promise<void> {
  const body = { model: 'plain', ...contents[CHAT] };
  for (const more of [{}, { 'x-relay-context': 'e30.e30.e30' }]) {
    const headers = { ...client.headers, ...more };
    const { summary } = await relayFetch(inferenceUrl, 'POST', CHAT, { headers, body });
    if (!summary.startsWith('401 ')) walk.fault(`inference without the platform is ${summary}`);
  }
  // The contract has this route, but not on this service.
  const sending = { headers: owner.headers, expectsDeviation: true };
  const { summary } = await relayFetch(inferenceUrl, 'GET', '/api/account', sending);
  if (summary !== '404 route_not_found') walk.fault(`management at the inference service is ${summary}`);
}
