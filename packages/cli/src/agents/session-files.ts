/** The session files of agents, with what a list shows of them. */
import { createReadStream } from "node:fs"
import { open, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Entry, Header } from "@sessions/core"
import type { Format } from "@sessions/formats"
import { besideFile } from "../files/beside.ts"
import { decompressed, isZstd } from "../files/zstd.ts"
import type { Described, FoundSession } from "./agent.ts"
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
  const text = await endsOf(file)
  if (!format.identify(text)) return undefined
  let header: Header | undefined
  let title: string | undefined
  let prompt: string | undefined
  let folder: string | undefined
  try {
    for await (const some of readText(format, text, file)) {
      for (const record of [some].flat()) {
        if (record.type === "session") header = record
        else if (record.type === "title_change") title = record.title ?? title
        else if (record.type === "metadata" && record.key === "cwd") folder = textOf(record.value) ?? folder
        else prompt ??= promptOf(record)
      }
    }
  } catch {
    // The middle of the file is missing in the text. What was read until then is shown.
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

function readText(format: Format, text: string, file: string): ReturnType<Format["read"]> {
  const main = (async function* () {
    yield text
  })()
  return format.read({ main, beside: besideFile(file) }, { note: () => undefined })
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

function promptOf(entry: Entry): string | undefined {
  if (entry.type !== "message" || entry.message.role !== "user" || entry.message.synthetic === true) return undefined
  const block = entry.message.content.find(({ type }) => type === "text")
  return typeof block?.["text"] === "string" ? block["text"] : undefined
}

/** Whole lines from the beginning and the end of a file: titles may be in both. Of a compressed file only the beginning. */
async function endsOf(file: string): Promise<string> {
  if (isZstd(file)) return await beginningOf(file)
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const read = async (from: number, to: number): Promise<string> => {
      const bytes = new Uint8Array(to - from)
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, from)
      return new TextDecoder().decode(bytes.subarray(0, bytesRead))
    }
    if (size <= 2 * END_BYTES) return await read(0, size)
    const first = await read(0, END_BYTES)
    const last = await read(size - END_BYTES, size)
    return `${first.slice(0, first.lastIndexOf("\n") + 1)}${last.slice(last.indexOf("\n") + 1)}`
  } finally {
    await handle.close()
  }
}

async function beginningOf(file: string): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const bytes of decompressed(file, createReadStream(file))) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length >= 2 * END_BYTES) return text.slice(0, text.lastIndexOf("\n") + 1)
  }
  return text
}

const END_BYTES = 65_536
