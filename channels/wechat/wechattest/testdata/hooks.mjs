// Stands for the program that the plugin is made for, of which its modules need little.
const stub = `
export const normalizeAccountId = (id) => id;
export const resolvePreferredOpenClawTmpDir = () => process.env.TMPDIR;
export const withFileLock = (path, options, f) => f();
`;

export async function resolve(specifier, context, next) {
  if (specifier.startsWith("openclaw/")) {
    return { url: "data:text/javascript," + encodeURIComponent(stub), shortCircuit: true };
  }
  return next(specifier, context);
}
