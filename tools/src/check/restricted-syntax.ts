// What oxlint lacks: syntax that is forbidden by a selector. See oxlint.config.ts.
interface Context {
  readonly options: readonly { readonly selector: string; readonly message: string }[];
  report(finding: { readonly node: unknown; readonly message: string }): void;
}

/** Reports what the selectors match, each with its message. */
const restrictedSyntax = {
  meta: { schema: false },
  create: ({ options, report }: Context) =>
    Object.fromEntries(
      options.map(({ selector, message }) => [selector, (node: unknown) => report({ node, message })]),
    ),
};

export default { meta: { name: 'relay' }, rules: { 'restricted-syntax': restrictedSyntax } };
