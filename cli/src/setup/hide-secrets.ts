/** Names of JSON, TOML and YAML settings that hold a secret. */
const SECRET =
  /(["']?[\w-]*(?:key|token|secret|password|authorization)[\w-]*["']?[ \t]*[:=][ \t]*)(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\$\{\{[^}]*\}\}|[^\s"',#{}]+))/gi;
/** The name of a variable or a reference to one is not a secret. */
const REFERENCE = /^(?:[A-Z0-9]+(?:_[A-Z0-9]+)+|\{env:.*\}|\$\{\{.*\}\}|true|false|null|\d{1,6})$/;

/** A settings file for the screen: of every key and token only whether it is the one that is set up. */
export function hideSecrets(text: string, key: string): string {
  return text.replaceAll(SECRET, (whole, name: string, double?: string, single?: string, plain?: string) => {
    const value = double ?? single ?? plain ?? '';
    if (REFERENCE.test(value) || value === '') return whole;
    return `${name}"${value === key ? '(your key)' : '(hidden)'}"`;
  });
}
