/** Lists the files that an agent read and modified, from its tool calls; cumulative over compactions. */
import type { Message, ToolCallBlock } from "../../format/message.ts"

export interface FileLists {
  /** Sorted, without those in `modifiedFiles`. */
  readonly readFiles: readonly string[]
  readonly modifiedFiles: readonly string[]
}

const READ = new Set(["read", "read_file"])
const WRITE = new Set(["write", "write_file", "edit", "edit_file"])

/** An object with file lists: a compaction, or the details of a branch summary. */
export interface FileSource {
  readonly readFiles?: unknown
  readonly modifiedFiles?: unknown
  readonly [key: string]: unknown
}

/**
 * Collects the files of the messages that a summary covers and of earlier summaries, except those that an extension wrote. A call whose
 * result is an error has read or changed nothing; one without a result may have.
 */
export function collectFiles(messages: readonly Message[], ...summaries: readonly FileSource[]): FileLists {
  const read = new Set<string>()
  const modified = new Set<string>()
  for (const { readFiles, modifiedFiles, fromExtension } of summaries) {
    if (fromExtension === true) continue
    for (const path of strings(readFiles)) read.add(path)
    for (const path of strings(modifiedFiles)) modified.add(path)
  }
  // The latest calls without a result by id: some providers begin to number anew with each answer.
  const waiting = new Map<string, () => void>()
  for (const message of messages) {
    if (message.role === "toolResult") {
      const { toolCallId: id, isError } = message
      if (!isError) waiting.get(id)?.()
      waiting.delete(id)
    }
    if (message.role !== "assistant") continue
    for (const { type, id, name, arguments: args } of (message.content ?? []) as readonly ToolCallBlock[]) {
      if (type !== "toolCall") continue
      const path = (args as Readonly<Record<string, unknown>> | undefined)?.["path"]
      const files = READ.has(name) ? read : WRITE.has(name) ? modified : undefined
      waiting.get(id)?.()
      if (typeof path === "string" && files !== undefined) waiting.set(id, () => files.add(path))
      else waiting.delete(id)
    }
  }
  for (const add of waiting.values()) add()
  return { readFiles: [...read].filter((path) => !modified.has(path)).sort(), modifiedFiles: [...modified].sort() }
}

/** The lists at the end of a stored summary. An empty list has no tag. */
export function withFileLists(summary: string, { readFiles, modifiedFiles }: FileLists): string {
  const tags = [list(TAGS[0], readFiles), list(TAGS[1], modifiedFiles)].filter((tag) => tag !== "")
  return tags.length === 0 ? summary : `${summary}\n\n${tags.join("\n")}`
}

/** Removes the lists from a summary, so that they do not accumulate. */
export function withoutFileLists(summary: string): string {
  const trimmed = summary.trimEnd()
  let end = trimmed.length
  for (let start = lastList(trimmed, end); start !== undefined; start = lastList(trimmed, end)) end = start
  return end === trimmed.length ? summary : trimmed.slice(0, end)
}

/** Where the list that ends at `end` begins. Not with a regular expression, which takes quadratic time for lists in the middle. */
function lastList(text: string, end: number): number | undefined {
  const tag = TAGS.find((name) => text.endsWith(`</${name}>`, end))
  if (tag === undefined) return undefined
  const start = text.lastIndexOf("<", end - tag.length - 4)
  if (!text.startsWith(`\n<${tag}>\n`, start - 1)) return undefined
  return text[start - 2] === "\n" ? start - 2 : start - 1
}

const TAGS = ["read-files", "modified-files"] as const

function list(tag: string, paths: readonly string[]): string {
  return paths.length === 0 ? "" : `<${tag}>\n${paths.map(oneLine).join("\n")}\n</${tag}>`
}

/** A path may contain any character; in the list it must be one line without tags. */
function oneLine(path: string): string {
  return path.replace(/[\n\r<]/g, (char) => (char === "<" ? "&lt;" : " "))
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []
}
