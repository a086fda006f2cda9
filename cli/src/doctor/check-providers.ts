import type { components } from '@relay/contract/api-types';
import { dataOf } from '../api/client.ts';
import { fixOf, responseWords } from '../api/test-result.ts';
import { healthFindings } from './check-upstreams.ts';
import { type Check, type Examination, type Finding, fail, note, ok, warn } from './finding.ts';

type Provider = components['schemas']['Provider'];

const PROVIDERS_TESTED_MAX = 20;
/** The server runs four tests of an organization concurrently, and the console may run one. */
const CONCURRENT_TESTS = 3;

/** Providers without a credential, and what each provider answers to a request for its models. */
export const checkProviders: Check = async (examination) => {
  const { api, surroundings } = examination;
  const all = (await dataOf(api.management.GET('/api/relay/providers'))).filter(({ enabled }) => enabled);
  if (all.length === 0)
    return [warn('providers', 'No provider is enabled.', 'Add one. Run: `relay providers add PRESET`')];
  const isBare = ({ auth_mode, has_credential }: Provider) => auth_mode !== 'none' && !has_credential;
  const bare = all
    .filter(isBare)
    .map(({ name, slug }) =>
      fail('providers', `${name} has no credential.`, `Run: \`relay providers set-credential ${slug}\``),
    );
  const tested = all.filter((each) => !isBare(each)).slice(0, PROVIDERS_TESTED_MAX);
  const contacted: Finding[] = [];
  for (let first = 0; first < tested.length; first += CONCURRENT_TESTS) {
    const some = tested.slice(first, first + CONCURRENT_TESTS);
    contacted.push(...(await Promise.all(some.map((each) => contactIfAllowed(examination, each)))));
  }
  // A request that just succeeded says more than the lack of earlier ones.
  const seen = all.filter(({ health }) => health !== 'unknown');
  return [...bare, ...contacted, ...healthFindings('providers', seen, surroundings.nowMs())];
};

/** A key that may not test providers still gets the other findings. */
async function contactIfAllowed(examination: Examination, provider: Provider): Promise<Finding> {
  try {
    return await contact(examination, provider);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'The test failed.';
    return note(
      'providers',
      `${provider.name} was not contacted. ${why}`,
      `Run: \`relay providers test ${provider.slug}\``,
    );
  }
}

/** One request for the provider's models, which providers do not bill. */
async function contact({ api }: Examination, { id, name, slug }: Provider): Promise<Finding> {
  const params = { path: { provider_id: id } };
  const result = await dataOf(api.management.POST('/api/relay/providers/{provider_id}/test', { params }));
  const fix = fixOf(result.outcome, { provider: slug, endpoint: null });
  if (result.outcome === 'no_model_list')
    return note('providers', `${name} has no model list, so it was not contacted.`, fix);
  if (result.ok) return ok('providers', `${name} responds and accepts the credential.`);
  const response = responseWords(result);
  const message = `${name}: ${result.message}${response === undefined ? '' : ` (${response})`}`;
  return result.outcome === 'rate_limited'
    ? warn('providers', message, fix)
    : fail('providers', message, fix);
}
