// Whether the packages in `dist` are what the sources say: a build leaves a stamp with the sizes and times of all files that it read.
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { publishable, root } from "./workspace.mjs"

export const stamp = join(root, ".reports", "build-stamp")

export function isBuilt() {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprintOfSources()
}

export function fingerprintOfSources() {
  const files = ["pnpm-lock.yaml", "tsconfig.base.json", join(".config", "tsup.config.ts")]
  const folders = publishable().flatMap(({ dir }) => [join(dir, "src"), join(dir, "package.json")])
  const hash = createHash("sha256")
  for (const path of [...files, "docs"].map((name) => join(root, name)).concat(folders)) {
    for (const file of filesIn(path)) {
      const { size, mtimeMs, ctimeMs } = statSync(file)
      hash.update(`${file} ${size} ${mtimeMs} ${ctimeMs}\n`)
    }
  }
  // Without what it made, a stamp says nothing.
  for (const { dir } of publishable()) hash.update(existsSync(join(dir, "dist")) ? "built\n" : "missing\n")
  return hash.digest("hex")
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
}
