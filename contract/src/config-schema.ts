import { ConfigFile } from './config-file.ts';

/** The JSON Schema of `relay.yaml`, for editors. It has no references to other files. */
export function buildConfigSchema(): Record<string, unknown> {
  // TypeBox marks its schemas with keys that begin with a tilde. They are not part of JSON Schema.
  const text = JSON.stringify(ConfigFile, (key, value: unknown) => (key.startsWith('~') ? undefined : value));
  const schema: Record<string, unknown> = JSON.parse(text);
  return {
    // The draft that the YAML language server supports best.
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    title: 'relay.yaml',
    description:
      'The configuration of a Relay deployment or organization. Refer to other resources by slug and to secrets by location.',
  };
}

/** The committed file, and the output of `relay config schema`. */
export function configSchemaText(): string {
  return `${JSON.stringify(buildConfigSchema(), null, 2)}\n`;
}
