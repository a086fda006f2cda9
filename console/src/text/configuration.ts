import { counted, formatCount } from '../format/numbers.ts';

/** The configuration file. */
export const configurationText = {
  description: 'Export, compare and apply the configuration file.',
  views: { current: 'Current file', compare: 'Compare and apply', owned: 'Managed by file' },
  viewsLabel: 'Configuration views',
  current: {
    label: 'Current configuration file',
    hint: 'Sorted, without IDs, secrets or defaults. The relay config commands use the same format.',
    copy: 'Copy file',
    download: 'Download file',
    fileName: 'relay.yaml',
    edit: 'Edit copy',
  },
  compare: {
    label: 'Configuration file',
    placeholder: 'Paste a configuration file (YAML or JSON)',
    choose: 'Choose file',
    drop: 'Paste or choose a file. Nothing changes until you review the plan and apply it.',
    take: 'Use current file',
    clear: 'Clear file',
    plan: 'Show plan',
    orphans: 'Managed resources missing from the file',
    orphanModes: {
      keep: 'Keep; still managed by file',
      release: 'Release to console',
      prune: 'Delete',
    },
    findings: (count: number) => `${counted(count, 'error')} in this file`,
    at: (line: string, column: string) => `Line ${line}, column ${column}`,
    tooLarge: (size: string, max: string) =>
      `This file is ${size}; the maximum is ${max}. Split it and apply the parts one after the other. Applying one part keeps the resources in the other parts unless you choose Delete.`,
    unreadable: 'The browser can’t read this file. Choose it again, or paste its content.',
  },
  plan: {
    title: 'Plan',
    nothing: 'No changes. The configuration matches this file.',
    counts: {
      create: (count: number) => `${formatCount(count)} to create`,
      update: (count: number) => `${formatCount(count)} to change`,
      delete: (count: number) => `${formatCount(count)} to delete`,
      release: (count: number) => `${formatCount(count)} to release`,
      adopt: (count: number) => `${formatCount(count)} to start managing, otherwise unchanged`,
    },
    actions: {
      create: 'Create',
      update: 'Change',
      delete: 'Delete',
      release: 'Release',
    },
    adopted: (count: number) => `${counted(count, 'resource')} newly managed by file, otherwise unchanged`,
    referenced: (count: number) => `${counted(count, 'secret')} referenced by name, otherwise unchanged`,
    adoptedToo: 'now managed by file',
    orphaned: (count: number) =>
      `${counted(count, 'managed resource')} missing from the file. Relay keeps ${count === 1 ? 'it' : 'them'}, still managed by file.`,
    more: (count: string) => `Show ${count} more`,
    apply: 'Apply file…',
    mayNotApply: (scopes: string) => `Applying needs ${scopes}.`,
  },
  apply: {
    title: 'Apply file?',
    body: 'Relay applies all changes or none. Requests in flight keep their configuration.',
    owns: 'The file then manages these resources. The console and the API can’t change them until you release them.',
    deletes: (count: number) => `Deletes ${counted(count, 'resource')}. You can’t undo this.`,
    secrets: 'Secrets that this file needs',
    secretsHint: 'Encrypted; never shown again.',
    action: 'Apply file',
    done: (count: number) => `File applied: ${counted(count, 'change')}`,
    doneNothing: 'File applied: no changes',
  },
  owned: {
    table: 'Resources managed by file',
    empty: 'No resources are managed by file.',
    hint: 'Only the file can change these. To release them, apply a file without them and choose “Release to console”.',
    columns: { key: 'Key', section: 'Kind' },
    search: 'Search managed resources',
  },
  /** A section that is not here is shown by its own name. */
  sections: sectionNames({
    providers: 'Provider',
    credentials: 'Credential',
    endpoints: 'Endpoint',
    lanes: 'Lane',
    memberships: 'Endpoint in a lane',
    pricing_policies: 'Price',
    limit_policies: 'Limit',
    guardrails: 'Guardrail',
    guardrail_bindings: 'Guardrail binding',
  }),
} as const;

function sectionNames(names: Readonly<Record<string, string>>): (section: string) => string {
  return (section) => names[section] ?? section.replaceAll('_', ' ');
}
