/** `gpt-4o-2024-08-06` and `claude-x-20250514` are versions of `gpt-4o` and `claude-x`. */
const VERSION = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * The model of the export for each upstream model of Relay. Providers report the version that served a request, while endpoints may name the model
 * alone. Where the export has several versions of it, they cannot be told apart, and all are compared together under the name without the version.
 */
export function matchModels(
  exported: Iterable<string>,
  upstream: Iterable<string>,
): { readonly ofExport: ReadonlyMap<string, string>; readonly ofRelay: ReadonlyMap<string, string> } {
  const [theirs, ours] = [new Set(exported), new Set(upstream)];
  const unversioned = new Set([...ours].filter((model) => !theirs.has(model)));
  const baseOf = (model: string) => model.replace(VERSION, '');
  const versions = Map.groupBy(theirs, baseOf);
  const nameOf = (model: string) => {
    const base = baseOf(model);
    const [only, ...others] = versions.get(base) ?? [];
    const isShared = unversioned.has(base) && only !== undefined;
    return isShared ? (others.length === 0 && !ours.has(only) ? only : base) : model;
  };
  return {
    ofExport: new Map([...theirs].map((model) => [model, nameOf(model)])),
    ofRelay: new Map([...ours].map((model) => [model, nameOf(model)])),
  };
}
