/**
 * Where the examples of the documents run: in a folder that has what this package has, or with `PACKED_PROJECT` in one of that project, which has
 * the packages as npm gets them.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { folderFor } from "../../.config/program.ts"

const packed = process.env["PACKED_PROJECT"]

/** A new folder for the files of an example, and a function that removes it. */
export function newFolder(): { readonly folder: string; readonly remove: () => void } {
  if (packed === undefined) return folderFor(fileURLToPath(new URL(".", import.meta.url)))
  const folder = mkdtempSync(join(packed, "run-"))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
