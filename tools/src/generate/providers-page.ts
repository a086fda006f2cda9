import type { ProviderPreset } from '@relay/contract';
import { providerPresets } from '@relay/server';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

export function providersPage(): GeneratedFile[] {
  const body = `# Provider presets

\`relay providers create --preset SLUG --name NAME\` fills in the settings on this page. Replace the parts in braces in a base URL. The
[guide](../guides/providers.md) explains every field and what was checked; [provider pages](../providers/README.md) have the commands.

${markdownTable(
  ['Preset', 'Base URL', 'Authentication', 'API'],
  providerPresets.map((preset) => [
    `[${preset.name}](#${preset.slug})`,
    code(preset.base_url),
    authenticationOf(preset),
    apiOf(preset),
  ]),
)}

${providerPresets.map(sectionOf).join('\n\n')}`;
  return [generatedPage('docs/reference/providers.md', body)];
}

function sectionOf(preset: ProviderPreset): string {
  const { quirks } = preset;
  const facts: readonly (readonly [string, string])[] = [
    ['Name', preset.name],
    ['Base URL', code(preset.base_url)],
    ['Authentication', authenticationOf(preset)],
    ['API', apiOf(preset)],
    [
      'Model list',
      preset.model_list === null ? 'none: name the upstream model yourself' : code(preset.model_list),
    ],
    ['Extra headers', pairs(preset.extra_headers)],
    ['Extra query', pairs(preset.extra_query)],
    ['Path prefix', quirks.path_prefix === '' ? '' : code(quirks.path_prefix)],
    ['Dropped parameters', quirks.dropped_parameters.map(code).join(', ')],
    ['Accepted optional parameters', quirks.accepted_parameters.map(code).join(', ')],
    ['Renamed parameters', pairs(quirks.renamed_parameters)],
    ['Documentation', `<${preset.documentation}>`],
  ];
  const rows = facts.filter(([, value]) => value !== '');
  return `## ${preset.slug}\n\n${markdownTable(['', ''], rows)}`;
}

function authenticationOf({ auth_mode, auth_header_name }: ProviderPreset): string {
  if (auth_mode === 'none') return 'none';
  return auth_header_name === null ? code(auth_mode) : `${code(auth_mode)}, ${code(auth_header_name)}`;
}

function apiOf({ protocol, route_kind }: ProviderPreset): string {
  return protocol === 'anthropic' ? 'Anthropic (Messages)' : `OpenAI-compatible, ${code(route_kind)}`;
}

function pairs(values: Readonly<Record<string, string>> | null): string {
  return Object.entries(values ?? {})
    .map(([name, value]) => code(`${name}: ${value}`))
    .join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}
