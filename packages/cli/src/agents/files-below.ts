/** The files of a folder and of the folders in it. */
import { readdir, realpath, stat } from "node:fs/promises"
import { join } from "node:path"

/**
 * The regular files below a folder, as paths from it with `/`. Links are followed, but each folder is read once, so links that form a loop
 * end. Folders that cannot be read are left out; a `root` that does not exist has no files.
 */
export async function filesBelow(root: string): Promise<readonly string[]> {
  const files: string[] = []
  const seen = new Set<string>()
  // Level by level, links last: a folder is found under its own path, not under that of a link further down.
  for (let level = [""]; level.length > 0; ) {
    const folders: string[] = []
    const links: string[] = []
    for (const folder of level) {
      for (const entry of await entriesOf(root, folder, seen)) {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`
        const isLink = entry.isSymbolicLink()
        const target = isLink ? await stat(join(root, path)).catch(() => undefined) : entry
        if (target?.isDirectory() === true) (isLink ? links : folders).push(path)
        else if (target?.isFile() === true) files.push(path)
      }
    }
    level = [...folders, ...links]
  }
  return files
}

async function entriesOf(root: string, folder: string, seen: Set<string>) {
  try {
    const path = await realpath(join(root, folder))
    if (seen.has(path)) return []
    seen.add(path)
    return await readdir(path, { withFileTypes: true })
  } catch (error) {
    if (folder !== "" || MISSING.has((error as { code?: string }).code ?? "")) return []
    throw error
  }
}

const MISSING: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR"])
