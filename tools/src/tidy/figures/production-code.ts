import { isGenerated, type Tree, type TreeFile } from '../tree.ts';

const MEMBERS = /^(server|console|cli|contract)\//;
const FOR_TESTS = /(\.test\.tsx?|(\.|\/)fixture\.ts|\.d\.ts)$/;

/** The TypeScript that ships: server, console, cli and contract, without tests, fixtures and generated files. */
export function productionFiles(tree: Tree): readonly TreeFile[] {
  return tree.files.filter(
    ({ path }) => MEMBERS.test(path) && /\.tsx?$/.test(path) && !FOR_TESTS.test(path) && !isGenerated(path),
  );
}
