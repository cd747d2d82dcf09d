/** The files beside an imported one, for importers of formats that consist of several. */
import { createReadStream, readdirSync, statSync } from "node:fs"
import { basename, dirname, extname, join, resolve } from "node:path"
import { Readable } from "node:stream"
import { SESSION_INDEX, threadOfName } from "@sessions/formats/codex"
import { PROJECT_ROOT } from "@sessions/formats/gemini"
import { KIMI_SESSION } from "@sessions/formats/kimi-cli"
import { kimiSessionOf } from "./kimi-session.ts"
import { decompressed, isZstd } from "./zstd.ts"

/**
 * A file in the folder of `file`, or undefined. Tries `name` itself, then after the name of the file: `session.meta.json` and `session_part2.jsonl` for
 * `meta.json` and `_part2` beside `session.jsonl`. The file of a project of Gemini CLI is in
 * the folder above that of its chats, the rollouts and the names of all sessions of Codex are in the folder of Codex, and what the path of a context
 * of Kimi CLI says is in no file. Names may come from the file, so those with a path are not followed.
 */
export function besideFile(file: string): (name: string) => AsyncIterable<Uint8Array> | undefined {
  const folder = dirname(file)
  const ending = extname(file)
  const stem = basename(file, ending)
  return (name) => {
    const thread = threadOfName(name)
    if (thread !== undefined) return rolloutOf(thread, folder)
    if (name === KIMI_SESSION) return ofText(kimiSessionOf(resolve(file)))
    if (name === SESSION_INDEX) {
      const home = codexFolderOf(folder)
      const index = home === undefined ? undefined : join(home, name)
      return index !== undefined && isFile(index) ? createReadStream(index) : undefined
    }
    if (name === "" || /[\\/\0]/.test(name) || name === "..") return undefined
    const names = [name, `${stem}.${name}`, `${stem}${name}`, `${stem}${name}${ending}`]
    const tried = name === PROJECT_ROOT ? [join(dirname(folder), name)] : names.map((one) => join(folder, one))
    const path = tried.find((one) => one !== file && isFile(one))
    return path === undefined ? undefined : createReadStream(path)
  }
}

/** The folder of Codex: that of `sessions` or `archived_sessions`, in which a rollout is. */
function codexFolderOf(folder: string): string | undefined {
  for (let at = folder; dirname(at) !== at; at = dirname(at))
    if (SESSION_FOLDERS.includes(basename(at))) return dirname(at)
  return undefined
}

const SESSION_FOLDERS: readonly string[] = ["sessions", "archived_sessions"]

/** The rollout of a thread, in the folder of Codex or beside a rollout that was moved elsewhere. */
function rolloutOf(thread: string, folder: string): AsyncIterable<Uint8Array> | undefined {
  const home = codexFolderOf(folder)
  const roots = home === undefined ? [folder] : SESSION_FOLDERS.map((name) => join(home, name))
  const isRollout = (name: string): boolean =>
    name.endsWith(`-${thread}.jsonl`) || name.endsWith(`-${thread}.jsonl.zst`)
  for (const root of roots) {
    const name = filesOf(root).find(isRollout)
    if (name === undefined) continue
    const path = join(root, name)
    return isZstd(path) ? decompressed(path, createReadStream(path)) : createReadStream(path)
  }
  return undefined
}

function filesOf(root: string): readonly string[] {
  try {
    return readdirSync(root, { recursive: true, encoding: "utf8" })
  } catch {
    return []
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function ofText(text: string | undefined): AsyncIterable<Uint8Array> | undefined {
  return text === undefined ? undefined : Readable.from([Buffer.from(text)])
}
