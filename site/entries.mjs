// The public entries of all packages, from their manifests: what the reference of the API describes.
import { join } from "node:path"
import { publishable, root } from "../.tools/lib/workspace.mjs"
import { folderOf } from "../.tools/lib/project.mjs"

/** `{ name, file, module }` of each: as a program imports it, its source, and what typedoc calls it. Commands are no entries. */
export const entries = publishable().flatMap(({ dir, manifest }) =>
  Object.entries(manifest.exports).flatMap(([path, { "@sessions/source": source }]) => {
    const file = join(folderOf(dir), source)
    if (/\/(?:bin|main)\.ts$/.test(file)) return []
    return [{ name: join(manifest.name, path), file: join(root, file), module: file.replace(/(?:\/index)?\.ts$/, "") }]
  }),
)
