import { ConfigFile } from './config-file.ts';

/** The JSON Schema of `relay.yaml`, for editors. Nothing in it refers elsewhere, so one file is enough. */
export function buildConfigSchema(): Record<string, unknown> {
  // TypeBox marks its schemas with keys that begin with a tilde; they are no JSON Schema.
  const text = JSON.stringify(ConfigFile, (key, value: unknown) => (key.startsWith('~') ? undefined : value));
  return {
    // What the YAML language server knows best.
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...(JSON.parse(text) as Record<string, unknown>),
    title: 'relay.yaml',
    description:
      'The configuration of a Relay deployment or organization. Other resources are named by their slugs, secrets by where they are found.',
  };
}

/** As it is committed, and as `relay config schema` prints it. */
export function configSchemaText(): string {
  return `${JSON.stringify(buildConfigSchema(), null, 2)}\n`;
}
