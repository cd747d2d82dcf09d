/** One entry of a session as a section of a Markdown document; undefined for an entry that nobody wants to read. */
import { fenced, toModelMessages } from "../context/model-messages.ts"
import { blocksOf } from "../context/blocks.ts"
import type { ContentBlock, Message } from "../format/messages.ts"
import type { Entry } from "../format/records.ts"
import { isObject } from "../format/shape.ts"
import { blockText, inlineText, neutralized, sizeText, timeText } from "./markdown-text.ts"

export function entryToMarkdown(entry: Entry): string | undefined {
  const fields = entry as Readonly<Record<string, unknown>>
  switch (entry.type) {
    case "message":
      return isObject(fields["message"])
        ? section(messageTitle(fields["message"]), entry, messageBody(fields["message"]))
        : undefined
    case "custom_message":
      if (fields["display"] === false) return undefined
      return section(inlineText(String(fields["customType"])), entry, contentBody(fields["content"]))
    case "compaction":
      return section("Compaction", entry, [
        "The conversation before this was summarized for the model:",
        quoted(fields["summary"]),
      ])
    case "branch_summary":
      return section("Back from another branch", entry, [quoted(fields["summary"])])
    case "reset_boundary":
      return section("New context", entry, ["The model does not see what stands before this."])
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
  const role = String(message["role"])
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

/** A command that was run beside the conversation reads as a model gets it; what nobody knows is shown as it is. */
function withoutContent(message: Readonly<Record<string, unknown>>): readonly string[] {
  const shown = { ...message, excludeFromContext: false } as unknown as Message
  const { messages } = toModelMessages([{ entryId: "", kind: "message", message: shown }])
  const content = messages[0]?.message.content
  return content === undefined
    ? [json(message)]
    : content.map((block) => neutralized(String((block as { text?: unknown }).text)))
}

function contentBody(content: unknown): readonly string[] {
  return blocksOf(content)?.map(blockToMarkdown) ?? [json(content)]
}

/** Output of a program is no Markdown. */
function resultBody(content: unknown): readonly string[] {
  const blocks = blocksOf(content)
  if (blocks === undefined) return [json(content)]
  return blocks.map((block) =>
    block.type === "text" ? fenced(neutralized(String(block["text"]))) : blockToMarkdown(block),
  )
}

function blockToMarkdown(block: ContentBlock): string {
  const fields = block as Readonly<Record<string, unknown>>
  switch (block.type) {
    case "text":
      return blockText(String(fields["text"]))
    case "thinking": {
      const thinking = blockText(String(fields["thinking"]))
      return thinking === "" ? "" : `<details>\n<summary>Thinking</summary>\n\n${thinking}\n\n</details>`
    }
    case "toolCall":
      return `Tool call: **${inlineText(String(fields["name"]))}**\n\n${json(fields["arguments"])}`
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
    ? "not at hand"
    : sizeText(Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0))
  return `[image, ${size}, ${inlineText(String(mimeType))}]`
}

function fileNote(file: unknown): string {
  const { path, filename, mimeType, size } = isObject(file) ? file : {}
  const name = inlineText(String(filename ?? path))
  return `[file, ${name}${typeof size === "number" ? `, ${sizeText(size)}` : ""}, ${inlineText(String(mimeType))}]`
}

function quoted(text: unknown): string {
  return blockText(String(text))
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n")
}

function json(value: unknown): string {
  return fenced(neutralized(JSON.stringify(value, null, 2) ?? "nothing"), "json")
}
