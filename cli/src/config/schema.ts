import type { Surroundings } from '../kit/surroundings.ts';

export async function schema({ stdout }: Pick<Surroundings, 'stdout'>): Promise<void> {
  // Loaded here, because the other commands of this group may do without it.
  const { configSchemaText } = await import('@relay/contract');
  stdout.write(configSchemaText());
}
