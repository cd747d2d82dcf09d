/** A small format for the tests of the base, and a model for others: `{"chat":ID}`, then `{"id","after"?,"by":"user"|"bot","says"}`. */
import type { Entry } from "@sessions/core"
import { readSource, recordsOf, sourceOf } from "../src/base/codec.ts"
import {
  defineFormat,
  type Format,
  type ReadOptions,
  type ReadSource,
  type SessionToWrite,
  type WriteOptions,
} from "../src/base/format.ts"
import { readJsonLines, UNREADABLE } from "../src/base/json-lines.ts"
import { headerOf, LogBuilder } from "../src/base/log-builder.ts"
import { Losses } from "../src/base/losses.ts"
import { firstWith } from "../src/base/start.ts"
import { type Fields, fieldsOf, stringOf, textBlock, textOf } from "../src/base/values.ts"
import { indexLog, isConversation } from "../src/base/written-path.ts"

const TIME = "2026-01-31T09:30:00.000Z"

export const sample: Format = defineFormat({
  format: "sample",
  title: "Sample",
  rejects: (start) => (firstWith(start, "chat") === undefined ? "has no line with `chat`" : undefined),
  read,
  write,
})

async function* read({ main }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  let log: LogBuilder | undefined
  let leafId: string | null = null
  for await (const lines of readJsonLines(main, note)) {
    for (const line of lines) {
      if (log === undefined) {
        const header = headerOf({ format: "sample", version: 1, id: stringOf(line.value?.["chat"]), timestamp: TIME })
        yield header
        log = new LogBuilder(header, note)
      }
      const { at, value } = line
      if (value === undefined) yield log.addUnreadable(line)
      else if (typeof value["says"] === "string" && (value["by"] === "user" || value["by"] === "bot")) {
        const message = { role: value["by"] === "user" ? "user" : "assistant", content: [textBlock(value["says"])] }
        const after = value["after"] === undefined ? null : stringOf(value["after"])
        const source = (entry: Entry) => sourceOf([at], [value], [encode(entry)])
        const entry = log.add({ type: "message", message }, { id: stringOf(value["id"]), parentId: after, source })
        leafId = entry.id
        yield entry
      } else yield log.add({ type: "custom", customType: "sample/line", data: value }, { source: { at: [at] } })
    }
  }
  const end = log?.end(leafId)
  if (end !== undefined) yield end
}

async function* write(session: SessionToWrite, o: WriteOptions = {}): AsyncIterable<string> {
  const index = await indexLog(session)
  const all = (o.branches ?? (session.header.origin?.format === "sample" ? "all" : "path")) === "all"
  const losses = new Losses()
  if (!all) losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  const lines: { readonly at: number; readonly text: string }[] = []
  for await (const entry of session.entries()) {
    if (index.isDeleted(entry.seq) || (!all && !index.isWritten(entry.seq))) continue
    // Appended entries follow those of the file.
    const source = readSource(entry) ?? { at: [Number.POSITIVE_INFINITY] }
    if (entry.type === "message") {
      for (const { at, record } of recordsOf(source, [encode(entry)])) lines.push({ at, text: JSON.stringify(record) })
    } else if (entry.type === "custom") {
      const text = entry.customType === UNREADABLE ? stringOf(fieldsOf(entry.data)["text"]) : JSON.stringify(entry.data)
      lines.push({ at: source.at[0] ?? 0, text: text ?? "" })
    } else if (isConversation(entry)) losses.add("entries", 1, (n) => `${n} entries have no place in the file.`)
  }
  lines.sort((a, b) => a.at - b.at)
  for (const { text } of lines) yield `${text}\n`
  losses.report(o)
}

function encode(entry: Entry): Fields {
  const { role, content = [] } = entry["message"] as { readonly role: string; readonly content?: [] }
  const after = entry.parentId === null ? {} : { after: entry.parentId }
  return { id: entry.id, ...after, by: role === "user" ? "user" : "bot", says: textOf(content) }
}
