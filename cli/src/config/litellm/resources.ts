import type {
  ConfigCredential,
  ConfigEndpoint,
  ConfigFile,
  ConfigLane,
  ConfigLimitPolicy,
  ConfigMembership,
  ConfigPricingPolicy,
  ConfigProvider,
} from '@relay/contract';
import { firstFreeSlug, slugOf } from '@relay/server/config-file';

/** Collects the content of the file. */
export interface Resources {
  /** The slug of the provider at this URL; equal URLs share a provider. */
  provider(kind: string, provider: Omit<ConfigProvider, 'slug'>): string;
  /** The name of the credential with this reference. */
  credential(provider: string, reference: string): string;
  endpoint(endpoint: Omit<ConfigEndpoint, 'slug'>): string;
  /** Slugs are assigned at the end, because a lane's name must not become another lane's slug. */
  lane(lane: Omit<ConfigLane, 'slug'>, endpoints: readonly string[]): void;
  price(price: ConfigPricingPolicy): void;
  limit(limit: ConfigLimitPolicy): void;
  /** The slugs of the providers with this LiteLLM name. */
  providersOf(kind: string): readonly string[];
  file(): ConfigFile;
}

export function createResources(): Resources {
  const providers = new Map<string, ConfigProvider & { readonly slug: string; readonly kind: string }>();
  const credentials = new Map<string, ConfigCredential>();
  const endpoints: (ConfigEndpoint & { readonly slug: string })[] = [];
  const lanes: { readonly lane: Omit<ConfigLane, 'slug'>; readonly endpoints: readonly string[] }[] = [];
  const prices: ConfigPricingPolicy[] = [];
  const limits: ConfigLimitPolicy[] = [];
  const providerSlugs = new Set<string>();
  const endpointSlugs = new Set<string>();

  return {
    provider(kind, provider) {
      const version = provider.extra_query?.['api-version'] ?? '';
      const key = `${kind} ${provider.base_url} ${provider.auth_mode} ${version}`;
      const known = providers.get(key);
      if (known !== undefined) return known.slug;
      const isSecond = [...providers.values()].some(({ name }) => name === provider.name);
      const name = isSecond ? `${provider.name} at ${hostOf(provider)}` : provider.name;
      const slug = freeSlug(name, 'provider', providerSlugs);
      providers.set(key, { slug, ...provider, name, kind });
      return slug;
    },
    credential(provider, reference) {
      const name = reference.replace(/^\w+:/, '');
      credentials.set(`${provider} ${reference}`, { provider, name, secret_ref: reference });
      return name;
    },
    endpoint(endpoint) {
      const slug = freeSlug(endpoint.name, 'endpoint', endpointSlugs);
      endpoints.push({ slug, ...endpoint });
      return slug;
    },
    lane: (lane, members) => void lanes.push({ lane, endpoints: members }),
    price: (price) => void prices.push(price),
    limit: (limit) => void limits.push(limit),
    providersOf: (wanted) =>
      [...providers.values()].filter(({ kind }) => kind === wanted).map(({ slug }) => slug),
    file() {
      const slugged = withSlugs(lanes);
      const memberships = slugged.flatMap(({ slug, endpoints: members }) =>
        members.map(
          (endpoint, index): ConfigMembership => ({ lane: slug, endpoint, manual_rank: index + 1 }),
        ),
      );
      return withoutEmpty({
        version: 1,
        providers: [...providers.values()].map(({ kind: _, ...provider }) => provider),
        credentials: [...credentials.values()],
        endpoints,
        lanes: slugged.map(({ slug, lane }) => ({ slug, ...lane })),
        memberships,
        pricing_policies: prices,
        limit_policies: limits,
      });
    },
  };
}

function freeSlug(name: string, fallback: string, taken: Set<string>): string {
  const slug = firstFreeSlug(slugOf(name, fallback), taken);
  taken.add(slug);
  return slug;
}

/**
 * Clients call a lane by name or slug, and the slug wins. Names that are valid slugs are therefore assigned
 * first.
 */
function withSlugs<L extends { readonly lane: { readonly name: string } }>(
  lanes: readonly L[],
): (L & { slug: string })[] {
  const taken = new Set(lanes.map(({ lane }) => lane.name).filter((name) => slugOf(name, 'lane') === name));
  return lanes.map((each) => {
    const { name } = each.lane;
    return { ...each, slug: taken.has(name) ? name : freeSlug(name, 'lane', taken) };
  });
}

function withoutEmpty(file: ConfigFile): ConfigFile {
  const kept = Object.entries(file).filter(([, items]) => !Array.isArray(items) || items.length > 0);
  return Object.fromEntries(kept) as ConfigFile;
}

function hostOf({ base_url = '' }: ConfigProvider): string {
  return URL.parse(base_url)?.host ?? base_url;
}
