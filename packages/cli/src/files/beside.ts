/** The files beside an imported one, for importers of formats that consist of several. */
import { createReadStream, statSync } from "node:fs"
import { basename, dirname, extname, join } from "node:path"
import { PROJECT_ROOT } from "@sessions/formats/gemini"

/**
 * A file in the folder of `file`, or undefined. Tries `name` itself, then after the name of the file: `session.meta.json` and `session_part2.jsonl` for
 * `meta.json` and `_part2` beside `session.jsonl`. The file of a project of Gemini CLI is in
 * the folder above that of its chats. Names may come from the file, so those with a path are not followed.
 */
export function besideFile(file: string): (name: string) => AsyncIterable<Uint8Array> | undefined {
  const folder = dirname(file)
  const ending = extname(file)
  const stem = basename(file, ending)
  return (name) => {
    if (name === "" || /[\\/\0]/.test(name) || name === "..") return undefined
    const names = [name, `${stem}.${name}`, `${stem}${name}`, `${stem}${name}${ending}`]
    const tried = name === PROJECT_ROOT ? [join(dirname(folder), name)] : names.map((one) => join(folder, one))
    const path = tried.find((one) => one !== file && isFile(one))
    return path === undefined ? undefined : createReadStream(path)
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
