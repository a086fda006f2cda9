import type { ClusterObject } from './read-yaml.ts';

interface Model {
  readonly prototype: { validate(): void };
}

/**
 * What the Kubernetes API would reject in an object, by the published schemas: wrong types, missing fields, and fields that the
 * schema does not have. The schemas allow unknown fields, so those are the ones that the validator never reads.
 */
export async function schemaFaults(object: ClusterObject): Promise<string[]> {
  const { apiVersion, kind } = object;
  const from = apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';
  const models = (await import(`${from}/${apiVersion}/${kind}`)) as Readonly<Record<string, Model>>;
  const reads = recordReads(object);
  try {
    models[kind]?.prototype.validate.call(reads.object);
  } catch (error) {
    return [`${kind}: ${String(error)}`];
  }
  return reads.unread().map((path) => `${kind}${path} is not a field`);
}

function recordReads(root: object): { readonly object: object; unread(): string[] } {
  const read = new Map<object, Set<string>>();
  const proxies = new Map<object, object>();
  function wrap(value: unknown): unknown {
    if (value === null || typeof value !== 'object') return value;
    const known = proxies.get(value);
    if (known !== undefined) return known;
    const names = new Set<string>();
    read.set(value, names);
    const proxy = new Proxy(value, {
      get(target, name, receiver) {
        if (typeof name === 'string') names.add(name);
        return wrap(Reflect.get(target, name, receiver));
      },
    });
    proxies.set(value, proxy);
    return proxy;
  }
  function unreadOf(value: unknown, path: string): string[] {
    if (value === null || typeof value !== 'object') return [];
    const names = read.get(value);
    return Object.entries(value).flatMap(([name, child]) =>
      names?.has(name) === true ? unreadOf(child, `${path}.${name}`) : [`${path}.${name}`],
    );
  }
  return { object: wrap(root) as object, unread: () => unreadOf(root, '') };
}
