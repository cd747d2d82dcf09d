// Where the installed programs are.
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

/** A file of the package that a name has for this system, such as `@scope/name-linux-x64`. */
export function platformFile(folder, scope, name, ...file) {
  const scoped = join(folder, "node_modules", scope)
  const found = existsSync(scoped) ? readdirSync(scoped).filter((one) => name.test(one)) : []
  return found.map((one) => existing(join(scoped, one, ...file))).find((path) => path !== undefined)
}

export function packageFile(folder, ...path) {
  return existing(join(folder, "node_modules", ...path))
}

export function existing(path) {
  return existsSync(path) ? path : undefined
}
