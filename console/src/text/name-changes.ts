import { counted } from '../format/numbers.ts';

/** Names that clients call, where a change gives them another meaning. */
export const nameChangesText = {
  title: (count: number) => `Changes ${counted(count, 'name')} that clients may call`,
  taken: (name: string, before: string, after: string) => `“${name}”: from ${before} to ${after}`,
  alike: (name: string, before: string, after: string) =>
    `“${name}” stays with ${before}; a name of ${after} differs from it at most in case or white space`,
  lane: (slug: string) => `lane ${slug}`,
  model: (model: string) => `model ${model}`,
};
