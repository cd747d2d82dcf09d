/** The name under which the program was started, for the commands that help and errors name: `sessions` alone may be another package to npx. */

const OWN = "sessions"
const PACKAGE = "@sessions/cli"

/** `path`: that of the script, as it was started. */
export function programOf(path: string, env: Readonly<Record<string, string | undefined>>): string {
  const folders = path.split(/[\\/]/)
  // Packages that are run without an installation are in a folder of the cache.
  if (folders.includes("_npx")) return `npx ${PACKAGE}`
  if (folders.includes("dlx")) return `pnpm dlx ${PACKAGE}`
  if (folders.some((name) => name.startsWith("bunx-"))) return `bunx ${PACKAGE}`
  // Of an installation in the project.
  return env["npm_command"] === "exec" ? `npx ${OWN}` : OWN
}

/** The text with each command that it names begun as this program was started. */
export function asStarted(text: string, program: string = OWN): string {
  return program === OWN ? text : text.replaceAll(/(^|["`(<]|: )sessions (?=[A-Za-z-])/g, `$1${program} `)
}
