import { compileValidator, type ResourceEdit, routes } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { AnyCall, AnyHandler } from '../../http/call.ts';
import { entryIn } from '../../kit/entry-in.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { resourceHandlers } from '../registry/derived.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField } from '../resources/refusals.ts';

type Operation = ResourceEdit['operation'];
type TryEdit = (
  tx: Transaction<Database>,
  by: Pick<AnyCall, 'caller' | 'requestId' | 'remoteAddress' | 'ended'>,
  edit: ResourceEdit,
) => Promise<void>;

/**
 * Writes an edit into a transaction that its owner rolls back, by the handler that would save it: what it checks, fills in and rejects
 * is what a save would. Versions are not compared, because nothing is overwritten.
 */
export function createTryEdit(deps: ManagementDeps): TryEdit {
  // Compiled at the first edit of its kind, since most processes see none.
  const checks = new Map<Operation, ReturnType<typeof compileValidator>>();
  return async (tx, by, edit) => {
    const { operation, body } = edit;
    const checked = entryIn(checks, operation, () => compileValidator(routes[operation].body))(body);
    if (!checked.ok) {
      const [first] = checked.issues;
      const param = first === undefined || first.path === '' ? 'edit.body' : `edit.body.${first.path}`;
      throw invalidField(param, `${checked.issues.map(inEdit).join('; ')}.`);
    }
    const handlers = resourceHandlers({ ...deps, ofOrganization: () => tx, dryRun: tx });
    const handler = handlers[operation] as AnyHandler | undefined;
    await handler?.({
      ...by,
      params: paramsOf(edit),
      query: {},
      body,
      header: () => undefined,
      setHeader: () => undefined,
    });
  };
}

/** A message begins with the field that it is about. */
function inEdit({ path, message }: { readonly path: string; readonly message: string }): string {
  return path !== '' && message.startsWith(path) ? `edit.body.${message}` : message;
}

/** Operations that create something have no id in their path. */
function paramsOf({ operation, id }: ResourceEdit): Readonly<Record<string, string>> {
  const name = /\{(\w+)\}/.exec(routes[operation].path)?.[1];
  if (name === undefined) {
    if (id === undefined) return {};
    throw invalidField('edit.id', `edit.id: ${operation} takes no ID. Leave it out.`);
  }
  if (id === undefined) throw invalidField('edit.id', `edit.id is required for ${operation}.`);
  return { [name]: id };
}
