// The one thing that oxlint does not have: syntax that is forbidden by a selector. See oxlint.config.ts.

/** Reports what the selectors of `options` match, each with its message. */
const restrictedSyntax = {
  meta: { schema: false },
  create: (context) =>
    Object.fromEntries(
      context.options.map(({ selector, message }) => [selector, (node) => context.report({ node, message })]),
    ),
};

export default { meta: { name: 'relay' }, rules: { 'restricted-syntax': restrictedSyntax } };
