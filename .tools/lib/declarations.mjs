import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

/**
 * Copies the declarations that the entries of a package name, directly or through others, from `.types`, where tsc emits those of all
 * modules, to `dist`. The others, half of the bytes, would be packed without use.
 */
export function copyDeclarations(dir, { exports }) {
  const [from, to] = [join(dir, ".types"), join(dir, "dist")]
  for (const name of existsSync(to) ? readdirSync(to, { recursive: true }) : [])
    if (name.endsWith(".d.ts")) rmSync(join(to, name))
  const entries = Object.values(exports).map(({ types }) => types.slice("./dist/".length))
  for (const name of reachable(entries, (one) => readFileSync(join(from, one), "utf8"))) {
    mkdirSync(dirname(join(to, name)), { recursive: true })
    copyFileSync(join(from, name), join(to, name))
  }
}

/** The declaration files that `entries` import, directly or through others, and the entries themselves. */
export function reachable(entries, read) {
  const found = new Set()
  const open = [...entries]
  while (open.length > 0) {
    const name = open.pop()
    if (found.has(name)) continue
    found.add(name)
    for (const [, specifier] of read(name).matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g))
      open.push(join(dirname(name), specifier.replace(/\.[jt]s$/, ".d.ts")))
  }
  return [...found]
}
