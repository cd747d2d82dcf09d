/** What the path of a context of Kimi CLI says of its session. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/**
 * The text that the importer gets as the file `KIMI_SESSION`; undefined for a file elsewhere. Of a folder the path has only the MD5: `kimi.json`
 * has the folders. A file that the agent has put aside, such as `context_1.jsonl`, is a session of its own.
 */
export function kimiSessionOf(file: string): string | undefined {
  const name = basename(file, ".jsonl")
  const [folder, above] = [dirname(file), dirname(dirname(file))]
  if (basename(above) === "subagents") {
    const parent = basename(dirname(above))
    const hash = basename(dirname(dirname(above)))
    return described(hash, `${parent}/${basename(folder)}`, dirname(dirname(dirname(dirname(above)))), parent)
  }
  if (IS_HASH.test(basename(folder))) return described(basename(folder), name, dirname(dirname(folder)))
  const id = name === "context" ? basename(folder) : `${basename(folder)}/${name}`
  return described(basename(above), id, dirname(dirname(above)))
}

const IS_HASH = /^[0-9a-f]{32}$/

function described(hash: string, id: string, share: string, parent?: string): string | undefined {
  return IS_HASH.test(hash) ? JSON.stringify({ id, cwd: folderOf(hash, share), parent }) : undefined
}

function folderOf(hash: string, share: string): string | undefined {
  try {
    const { work_dirs: folders } = JSON.parse(readFileSync(join(share, "kimi.json"), "utf8")) as {
      readonly work_dirs: readonly { readonly path: string }[]
    }
    return folders.find(({ path }) => createHash("md5").update(path).digest("hex") === hash)?.path
  } catch {
    return undefined
  }
}
