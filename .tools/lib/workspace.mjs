import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../..", import.meta.url))

export const manifest = readManifest(root)

/** All packages of the workspace, also private ones, as `{ dir, manifest }`. The folders are those of pnpm-workspace.yaml. */
export function packages() {
  const inside = (parent) =>
    existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => join(root, parent, name)) : []
  const alone = ["conformance", "benchmarks", ".tools/runtimes"].map((name) => join(root, name))
  return [...inside("packages"), ...alone, ...inside("examples")]
    .filter((dir) => existsSync(join(dir, "package.json")))
    .map((dir) => ({ dir, manifest: readManifest(dir) }))
}

export function publishable() {
  return packages().filter(({ manifest }) => !manifest.private)
}

function readManifest(dir) {
  return JSON.parse(readFileSync(join(dir, "package.json"), "utf8"))
}
