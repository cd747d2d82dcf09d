/** The session files of agents, with what a list shows of them. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import type { Entry, Header } from "@sessions/core"
import type { Format } from "@sessions/formats"
import { besideFile } from "../files/beside.ts"
import type { Described, FoundSession } from "./agent.ts"
import { endsOf } from "./ends.ts"
import { filesBelow } from "./files-below.ts"

/** The files below a folder that are sessions, the newest first. `isSession` gets paths from there, with `/`. */
export async function sessionFiles(
  root: string,
  isSession: (path: string, all: ReadonlySet<string>) => boolean,
): Promise<readonly FoundSession[]> {
  const found: { readonly file: string; readonly bytes: number; readonly time: number }[] = []
  const all = new Set(await filesBelow(root))
  for (const name of all) {
    if (!isSession(name, all)) continue
    const file = join(root, name)
    // A file may be removed while the folder is read.
    const info = await stat(file).catch(() => undefined)
    if (info?.isFile() === true) found.push({ file, bytes: info.size, time: info.mtimeMs })
  }
  found.sort((a, b) => b.time - a.time)
  return found.map(({ file, bytes, time }) => ({ file, bytes, modifiedAt: new Date(time).toISOString() }))
}

/** What the agent, or the beginning and the end of the file say of a session; undefined for a file that is none. */
export async function describe(format: Format, { file, described }: FoundSession): Promise<Described | undefined> {
  if (described !== undefined) return described
  let header: Header | undefined
  let title: string | undefined
  let prompt: string | undefined
  let folder: string | undefined
  const parts = endsOf(file, () => header !== undefined && prompt !== undefined)
  try {
    const { value: start } = await parts.next()
    if (!format.identify(start ?? "")) return undefined
    const main = (async function* () {
      yield start ?? ""
      yield* parts
    })()
    for await (const some of format.read({ main, beside: besideFile(file) }, { note: () => undefined })) {
      for (const record of [some].flat()) {
        if (record.type === "session") header = record
        else if (record.type === "title_change") title = record.title ?? title
        else if (record.type === "metadata" && record.key === "cwd") folder = textOf(record.value) ?? folder
        else prompt ??= promptOf(record)
      }
    }
  } catch (error) {
    // The middle of the file is missing in the text. What was read until then is shown.
    if (header === undefined) throw error
  } finally {
    await parts.return()
  }
  // The last one counts: a session may be moved.
  const cwd = folder ?? header?.cwd
  const shown = title ?? header?.title ?? prompt
  return {
    ...(header?.origin?.id === undefined ? {} : { id: header.origin.id }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(shown === undefined ? {} : { title: shown }),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

function promptOf(entry: Entry): string | undefined {
  if (entry.type !== "message" || entry.message.role !== "user" || entry.message.synthetic === true) return undefined
  const block = entry.message.content.find(({ type }) => type === "text")
  return typeof block?.["text"] === "string" ? block["text"] : undefined
}
