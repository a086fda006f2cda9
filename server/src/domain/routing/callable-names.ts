import { type Steps, stepsOver } from '../../kit/slices.ts';
import type { Endpoint, Lane, Provider } from '../snapshot.ts';

/** What callable names come from, by ID. Later lanes win over earlier ones of the same name. */
export interface NameSources {
  readonly lanes: ReadonlyMap<string, NamedLane>;
  readonly endpoints: ReadonlyMap<string, NamedEndpoint>;
  readonly providers: ReadonlyMap<string, Pick<Provider, 'slug' | 'enabled'>>;
}

export interface NamedLane extends Pick<Lane, 'id' | 'name' | 'slug' | 'enabled'> {
  /** Whether the lane may take over the name of a model without a request that says so. */
  readonly shadowsModel?: boolean;
}

export type NamedEndpoint = Pick<Endpoint, 'id' | 'providerId' | 'upstreamModel' | 'enabled'>;

/** What a name stands for: a lane, all endpoints of a model, or those of a model at one provider. Equal meanings are equal strings. */
export type Meaning = `${MeaningKind} ${string}`;
type MeaningKind = 'lane' | 'model' | 'provider_model';

export const laneMeaning = ({ id }: Pick<Lane, 'id'>): Meaning => `lane ${id}`;
export const modelMeaning = ({ upstreamModel }: Pick<Endpoint, 'upstreamModel'>): Meaning =>
  `model ${upstreamModel}`;
export const providerModelMeaning = (
  { upstreamModel }: Pick<Endpoint, 'upstreamModel'>,
  { slug }: Pick<Provider, 'slug'>,
): Meaning => `provider_model ${slug}/${upstreamModel}`;

/** The kind of a meaning, and the lane's ID or the model. */
export function partsOf(meaning: Meaning): { readonly kind: MeaningKind; readonly of: string } {
  const space = meaning.indexOf(' ');
  return { kind: meaning.slice(0, space) as MeaningKind, of: meaning.slice(space + 1) };
}

/** Every callable name of an organization, with what it stands for. Disabled lanes have no names. */
export function* callableNames({ lanes, endpoints, providers }: NameSources): Steps<Map<string, Meaning>> {
  const names = new Map<string, Meaning>();
  const served = [...endpoints.values()];
  const enabled = [...lanes.values()].filter((lane) => lane.enabled);
  // Later entries win, so names of lower precedence are added first.
  yield* stepsOver(served, (endpoint) => names.set(endpoint.upstreamModel, modelMeaning(endpoint)));
  yield* stepsOver(served, (endpoint) => {
    const provider = providers.get(endpoint.providerId);
    if (provider === undefined) return;
    names.set(`${provider.slug}/${endpoint.upstreamModel}`, providerModelMeaning(endpoint, provider));
  });
  yield* stepsOver(enabled, (lane) => names.set(lane.name, laneMeaning(lane)));
  yield* stepsOver(enabled, (lane) => names.set(lane.slug, laneMeaning(lane)));
  return names;
}
