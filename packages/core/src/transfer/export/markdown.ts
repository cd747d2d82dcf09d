/** Exports a session as Markdown: the entries of the current path, including those that were compacted. */
import type { Entry } from "../../format/entry.ts"
import type { CallOptions, Seq, SessionStorage } from "../../storage/contract.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { defaultLeaf } from "../../log/path.ts"
import { pathTo } from "../../log/walk.ts"
import { restoreEntries } from "../../log/blobs.ts"
import { currentInfo } from "../../info/refresh.ts"
import { type InfoProjection, projectWhole } from "../../info/projection.ts"
import { inlineText, timeText, blockText, neutralized, sizeText } from "./markdown-text.ts"
import { readWholeLog, type WholeLog } from "../read-log.ts"
import { fenced, toModelMessages } from "../../context/model-messages.ts"
import { blocksOf } from "../../context/content.ts"
import type { ContentBlock, Message } from "../../format/message.ts"
import { isObject } from "../../format/shape.ts"
import { textOf, toJson } from "../../format/stored-text.ts"

/** Yields the head of the document, then a section for each entry with visible content. Deleted entries are left out. */
export async function* toMarkdown(
  storage: SessionStorage,
  id: string,
  o: CallOptions = {},
): AsyncGenerator<string, void, undefined> {
  const whole = await readWholeLog(storage, id, o)
  yield documentHead(id, await projectionOf(storage, id, whole, o))
  for await (const found of whole.entries(shownSeqs(whole.log))) {
    const { entries } = await restoreEntries(storage, [found.entry()], { ...o, foreign: whole.inMemory })
    const text = entryToMarkdown(entries[0] as Entry)
    if (text !== undefined) yield `\n${text}\n`
  }
}

function shownSeqs(log: EntryLog): ReadonlySet<Seq> {
  const leaf = defaultLeaf(log)
  return new Set(
    leaf === undefined || leaf === null ? [] : pathTo(log, leaf).seqs.filter((seq) => !log.deleted.has(seq)),
  )
}

/** Information of a stored log from its lines, because its stubs in memory lack values that the projection needs. */
async function projectionOf(
  storage: SessionStorage,
  id: string,
  whole: WholeLog,
  o: CallOptions,
): Promise<InfoProjection> {
  const head = whole.inMemory ? undefined : await storage.head(id, o)
  if (head !== undefined) return currentInfo(storage, id, head, o)
  return projectWhole(whole, "")
}

function documentHead(id: string, projection: InfoProjection): string {
  const title = projection.userTitle ?? projection.autoTitle ?? projection.headerTitle ?? `Session ${id}`
  const facts = [`- Session: ${inlineText(id)}`, `- Started: ${timeText(projection.createdAt)}`]
  if (projection.cwd !== undefined) facts.push(`- Directory: ${inlineText(projection.cwd)}`)
  if (projection.parentSession !== undefined) {
    const { id: parent, ref }: Readonly<Record<string, unknown>> = { ...projection.parentSession }
    facts.push(`- Forked from: ${inlineText(textOf(parent ?? ref))}`)
  }
  return `# ${inlineText(title)}\n\n${facts.join("\n")}\n`
}

/** Undefined for an entry without content to show. */
export function entryToMarkdown(entry: Entry): string | undefined {
  const fields = entry as Readonly<Record<string, unknown>>
  switch (entry.type) {
    case "message":
      return isObject(fields["message"])
        ? section(messageTitle(fields["message"]), entry, messageBody(fields["message"]))
        : undefined
    case "custom_message":
      if (fields["display"] === false) return undefined
      return section(inlineText(textOf(fields["customType"])), entry, contentBody(fields["content"]))
    case "compaction":
      return section("Compaction", entry, [
        "The conversation before this was summarized for the model:",
        quoted(fields["summary"]),
      ])
    case "branch_summary":
      return section("Back from another branch", entry, [quoted(fields["summary"])])
    case "reset_boundary":
      return section("New context", entry, ["The model does not see the entries before this one."])
    default:
      return undefined
  }
}

const TITLES: Readonly<Record<string, string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  toolResult: "Tool result",
}

function section(title: string, { timestamp }: Entry, body: readonly string[]): string {
  return [`## ${title} · ${timeText(timestamp)}`, ...body.filter((part) => part !== "")].join("\n\n")
}

function messageTitle(message: Readonly<Record<string, unknown>>): string {
  const role = textOf(message["role"])
  const title = Object.hasOwn(TITLES, role) ? (TITLES[role] as string) : inlineText(role)
  const name =
    role === "toolResult" && typeof message["toolName"] === "string" ? `: ${inlineText(message["toolName"])}` : ""
  return `${title}${name}${message["isError"] === true ? " (error)" : ""}`
}

function messageBody(message: Readonly<Record<string, unknown>>): readonly string[] {
  const attachments = Array.isArray(message["attachments"]) ? message["attachments"].map(fileNote) : []
  if (message["content"] === undefined) return [...withoutContent(message), ...attachments]
  const body = message["role"] === "toolResult" ? resultBody(message["content"]) : contentBody(message["content"])
  return [...body, ...attachments]
}

/** A command that the user ran is shown as the model sees it; a message of an unknown role as JSON. */
function withoutContent(message: Readonly<Record<string, unknown>>): readonly string[] {
  const shown = { ...message, excludeFromContext: false } as unknown as Message
  const { messages } = toModelMessages([{ entryId: "", kind: "message", message: shown }])
  const content = messages[0]?.message.content
  return content === undefined
    ? [json(message)]
    : content.map((block) => neutralized(textOf((block as { text?: unknown }).text)))
}

function contentBody(content: unknown): readonly string[] {
  return blocksOf(content)?.map(blockToMarkdown) ?? [json(content)]
}

/** The output of a tool is not Markdown, so it is fenced. */
function resultBody(content: unknown): readonly string[] {
  const blocks = blocksOf(content)
  if (blocks === undefined) return [json(content)]
  return blocks.map((block) =>
    block.type === "text" ? fenced(neutralized(textOf(block.text))) : blockToMarkdown(block),
  )
}

function blockToMarkdown(block: ContentBlock): string {
  const fields = block as Readonly<Record<string, unknown>>
  switch (block.type) {
    case "text":
      return blockText(textOf(fields["text"]))
    case "thinking": {
      const thinking = blockText(textOf(fields["thinking"]))
      return thinking === "" ? "" : `<details>\n<summary>Thinking</summary>\n\n${thinking}\n\n</details>`
    }
    case "toolCall":
      return `Tool call: **${inlineText(textOf(fields["name"]))}**\n\n${json(fields["arguments"])}`
    case "image":
      return imageNote(fields)
    case "file":
      return fileNote(fields)
    default:
      return json(block)
  }
}

function imageNote({ data, mimeType }: Readonly<Record<string, unknown>>): string {
  const missing = typeof data !== "string" || data.startsWith("blob:")
  const size = missing
    ? "not available"
    : sizeText(Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0))
  return `[image, ${size}, ${inlineText(textOf(mimeType))}]`
}

function fileNote(file: unknown): string {
  const { path, filename, mimeType, size } = isObject(file) ? file : {}
  const name = inlineText(textOf(filename ?? path))
  return `[file, ${name}${typeof size === "number" ? `, ${sizeText(size)}` : ""}, ${inlineText(textOf(mimeType))}]`
}

function quoted(text: unknown): string {
  return blockText(textOf(text))
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n")
}

function json(value: unknown): string {
  return fenced(neutralized(value === undefined ? "nothing" : toJson(value, 2)), "json")
}
