import { styleText } from 'node:util';
import type { ConfigPlan } from '@relay/contract';
import { count, plain } from '../output/cells.ts';
import { limitWords } from '../output/limit-words.ts';

type Change = ConfigPlan['changes'][number];

const SIGNS = { create: '+', update: '~', delete: '-', release: '<' } as const;
const COLORS = { create: 'green', update: 'yellow', delete: 'red', release: 'cyan' } as const;
const WIDTH_MAX = 200;

/** The plan as text: each changed resource with its changed fields. */
export function planText(plan: ConfigPlan, stream: NodeJS.WriteStream): string {
  const changes = plan.changes.map((change) => changeText(change, stream));
  const orphaned = plan.orphaned.map(({ section, key }) => `? ${section} ${plain(key)}\n`);
  const lines = [...changes, ...orphaned, ...plan.name_changes.map(nameLine)];
  lines.push(
    ...plan.deleted_limits.map((limit) => `! also deletes a ${limitWords(limit)}\n`),
    ...secretLines(plan),
  );
  return `${lines.join('')}${summary(plan)}\n`;
}

function changeText({ action, section, key, fields }: Change, stream: NodeJS.WriteStream): string {
  const head = styleText(COLORS[action], `${SIGNS[action]} ${section} ${plain(key)}`, { stream });
  const shown = action === 'delete' || action === 'release' ? [] : fields;
  return [head, ...shown.map((field) => `    ${fieldText(action, field)}`)]
    .map((line) => `${line}\n`)
    .join('');
}

function fieldText(action: Change['action'], { field, before, after }: Change['fields'][number]): string {
  if (field === 'secret') return 'secret: changed';
  if (action === 'create') return `${field}: ${valueText(after)}`;
  return `${field}: ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  const text = plain(JSON.stringify(value) ?? 'null');
  return text.length > WIDTH_MAX ? `${text.slice(0, WIDTH_MAX)}…` : text;
}

function nameLine({ name, kind, before, after }: ConfigPlan['name_changes'][number]): string {
  const [old, now] = [before, after].map(
    (of) => `${of.kind === 'lane' ? 'lane' : 'model'} ${plain(of.name)}`,
  );
  if (kind === 'taken') return `! name ${plain(name)}: ${old} → ${now}\n`;
  return `! name ${plain(name)} of ${old}: a name of ${now} differs from it at most in case or white space\n`;
}

/** Secrets that cannot be compared. Never prints a value. */
function secretLines({ secrets, required_secrets }: ConfigPlan): string[] {
  return secrets
    .filter(({ state }) => state === 'unknown')
    .map(({ section, key, secret_ref }) => {
      const needed = required_secrets.includes(secret_ref) ? ', required' : '';
      return `  ${section} ${plain(key)}: secret ${plain(secret_ref)} not found here${needed}\n`;
    });
}

function summary({ creates, updates, deletes, releases, orphaned }: ConfigPlan): string {
  const parts = [
    [creates, 'to create'],
    [updates, 'to update'],
    [deletes, 'to delete'],
    [releases, 'to release'],
  ] as const;
  const said = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${amount} ${what}`);
  const them = orphaned.length === 1 ? 'it' : 'them';
  const left =
    orphaned.length === 0
      ? ''
      : ` The file manages ${count(orphaned.length, 'resource')} that it does not list (marked ?): --prune deletes ${them}, --release releases ${them}.`;
  return `${said.length === 0 ? 'No changes.' : `${said.join(', ')}.`}${left}`;
}
