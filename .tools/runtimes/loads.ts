/** The built entries of all published packages, for the tests that import each of them. */
import { existsSync, readdirSync, readFileSync } from "node:fs"

export interface BuiltEntry {
  /** As a user imports it. */
  readonly name: string
  readonly load: () => Promise<object>
}

export function builtEntries(): readonly BuiltEntry[] {
  const packages = new URL("../../packages/", import.meta.url)
  const folders = readdirSync(packages).map((name) => new URL(`${name}/`, packages))
  return [...folders, new URL("../../conformance/", import.meta.url)].flatMap(entriesOf)
}

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports: Readonly<Record<string, { readonly default: string }>>
  readonly bin?: Readonly<Record<string, string>>
}

function entriesOf(folder: URL): readonly BuiltEntry[] {
  const file = new URL("package.json", folder)
  if (!existsSync(file)) return []
  const { name, exports, bin = {}, ...rest } = JSON.parse(readFileSync(file, "utf8")) as Manifest
  if (rest.private === true) return []
  // A command runs when it is imported, and ends the process.
  const commands = new Set(Object.values(bin))
  return Object.entries(exports)
    .filter(([, built]) => !commands.has(built.default))
    .map(([path, built]) => ({
      name: name + path.slice(1),
      load: () => import(new URL(built.default, folder).href) as Promise<object>,
    }))
}
