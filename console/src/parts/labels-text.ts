import type { Labels } from '@relay/contract';

/** Null when a label has no name or value. */
export function labelsOf(typed: string): Labels | null {
  const labels: Labels = {};
  for (const part of typed.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    if (name.trim() === '' || value.trim() === '') return null;
    labels[name.trim()] = value.trim();
  }
  return labels;
}

export function textOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}
