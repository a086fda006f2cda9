/** The declarative file. */
export const configurationText = {
  description:
    'Providers, endpoints, lanes, prices, limits and guardrails as one file: read it, compare it with another, and apply that.',
  views: { current: 'Current file', compare: 'Compare and apply', owned: 'Owned by the file' },
  viewsLabel: 'Views of the configuration',
  current: {
    label: 'The configuration as a file',
    hint: 'Sorted, and without ids, secrets and defaults: the same configuration is always the same file. The relay config commands read and write the same.',
    copy: 'Copy the file',
    download: 'Download',
    fileName: 'relay.yaml',
    edit: 'Edit a copy',
  },
  compare: {
    label: 'Configuration file',
    placeholder: 'Paste a configuration file, in YAML or JSON',
    choose: 'Choose a file',
    drop: 'Paste a file below, or choose one. Nothing changes before you have seen the plan and said so.',
    take: 'Take the current file',
    clear: 'Clear',
    plan: 'Show the plan',
    orphans: 'What the file owns and no longer names',
    orphanModes: {
      keep: 'stays, and stays the file’s',
      release: 'is given back to the console',
      prune: 'is deleted',
    },
    findings: (count: number) =>
      count === 1 ? 'One thing is wrong with this file' : `${count} things are wrong with this file`,
    at: (line: string, column: string) => `Line ${line}, column ${column}`,
    tooLarge: (size: string, max: string) =>
      `This file is ${size} and the interface takes ${max} at once. Split it and apply the parts one after the other: an apply only adds and changes, unless you ask for more.`,
    unreadable: 'This file could not be read as text.',
  },
  plan: {
    title: 'Plan',
    nothing: 'Nothing would change: the configuration is what this file says.',
    counts: {
      create: (count: number) => `${count} to create`,
      update: (count: number) => `${count} to change`,
      delete: (count: number) => `${count} to delete`,
      release: (count: number) => `${count} to give back`,
      adopt: (count: number) => `${count} taken over unchanged`,
    },
    actions: {
      create: 'Create',
      update: 'Change',
      delete: 'Delete',
      release: 'Give back',
    },
    adopted: (count: number) =>
      count === 1
        ? 'One object becomes the file’s and is otherwise as it was'
        : `${count} objects become the file’s and are otherwise as they were`,
    referenced: (count: number) =>
      count === 1
        ? 'One secret gets a name in the file and stays as it is'
        : `${count} secrets get names in the file and stay as they are`,
    adoptedToo: 'becomes the file’s',
    orphaned: (count: number) =>
      count === 1
        ? 'One object is the file’s and no longer in it. It stays as it is.'
        : `${count} objects are the file’s and no longer in it. They stay as they are.`,
    more: (count: string) => `Show ${count} more`,
    apply: 'Apply…',
    mayNotApply: (scopes: string) => `Applying needs ${scopes}.`,
  },
  apply: {
    title: 'Apply this file?',
    body: 'All of it happens in one step or none of it does. Requests that are under way keep what they started with.',
    owns: 'What the file names is the file’s from then on: the console and the interface refuse to change it until the file gives it back.',
    deletes: (count: number) =>
      count === 1 ? 'One object is deleted for good.' : `${count} objects are deleted for good.`,
    secrets: 'Secrets that this file needs',
    secretsHint: 'They are sent with this apply, stored encrypted, and never shown again.',
    action: 'Apply',
    done: (count: number) =>
      count === 1 ? 'The file was applied: one change.' : `The file was applied: ${count} changes.`,
    doneNothing: 'The file was applied; there was nothing to change.',
  },
  owned: {
    table: 'What the configuration file owns',
    empty: 'No file has been applied, so everything can be changed in the console.',
    hint: 'These can be changed by the file alone. Apply a file without them, with “is given back to the console”, to free them.',
    columns: { key: 'Known by', section: 'Kind' },
    search: 'Search what the file owns',
  },
  /** A section that is not here is shown by its own name. */
  sections: sectionNames({
    providers: 'Provider',
    credentials: 'Credential',
    endpoints: 'Endpoint',
    lanes: 'Lane',
    memberships: 'Place in a lane',
    pricing_policies: 'Price',
    limit_policies: 'Limit',
    guardrails: 'Guardrail',
    guardrail_bindings: 'Guardrail binding',
  }),
} as const;

function sectionNames(names: Readonly<Record<string, string>>): (section: string) => string {
  return (section) => names[section] ?? section.replaceAll('_', ' ');
}
