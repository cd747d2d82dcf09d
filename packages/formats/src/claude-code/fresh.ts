/** Lines for entries that Claude Code did not write: appended ones, and those of sessions of other agents. */
import type { AssistantMessage, ContentBlock, Entry, ModelMessage, ToolResultMessage } from "@sessions/core"
import { uuidOf } from "../base/ids.ts"
import type { Losses } from "../base/losses.ts"
import { modelMessagesOf } from "../base/model-messages.ts"
import { type Fields, textBlock } from "../base/values.ts"
import { API_CALLS, API_TYPES } from "./blocks.ts"
import { CallIds, fitted } from "../base/call-ids.ts"
import { assistantLine, compactionLines, type LineContext, titleLine, userLine } from "./encode.ts"

/** What the lines of one file have in common, and which calls have been written: a result without its call would be refused. */
export class FreshLines {
  readonly #losses: Losses
  readonly #calls = new CallIds({ ...API_CALLS, takesNumbersForRepeats: true })
  /** The last line of a message with calls, and the id of the message. */
  #open: { readonly uuid: unknown; readonly messageId: string } | undefined

  readonly #answered: ReadonlySet<string>

  /** `answered`: the calls of another agent that have a result in the file. */
  constructor(losses: Losses, answered: ReadonlySet<string>) {
    this.#losses = losses
    this.#answered = answered
  }

  /** A call on a line that Claude Code wrote. */
  sawCall(id: string): void {
    this.#calls.saw(id)
  }

  /** The lines of a message or of another entry that a model sees, with this content if it was edited. None: nothing is left of it. */
  async of(entry: Entry, context: LineContext, edited?: readonly ContentBlock[]): Promise<readonly Fields[]> {
    const { timestamp } = entry
    const lines: Fields[] = []
    for (const [n, message] of modelMessagesOf(entry, edited).entries()) {
      const id = await uuidOf(n === 0 ? entry.id : `${entry.id}/${n}`)
      const parentUuid = (lines.at(-1)?.["uuid"] as string | undefined) ?? context.parentUuid
      const made = await this.#message(entry, message, { id, timestamp }, { ...context, parentUuid })
      // A message has a line for each block, and the arguments of a call are on the stack.
      for (const line of made) lines.push(line)
    }
    return lines
  }

  /** The lines of a compaction that keeps the lines with these uuids. */
  async compaction(
    entry: Entry & { readonly type: "compaction" },
    context: LineContext,
    kept: readonly string[],
  ): Promise<readonly Fields[]> {
    const { timestamp, summary, tokensBefore } = entry
    const summaryUuid = await uuidOf(`${entry.id}/summary`)
    const anchor = { anchorUuid: summaryUuid }
    const metadata =
      kept.length === 0
        ? {}
        : {
            preservedSegment: { headUuid: kept[0], ...anchor, tailUuid: kept.at(-1) },
            preservedMessages: { ...anchor, uuids: kept, allUuids: kept },
          }
    const place = { id: await uuidOf(entry.id), timestamp }
    return compactionLines(place, summary, { ...context, summaryUuid, preTokens: tokensBefore, metadata })
  }

  title(entry: Entry & { readonly type: "title_change" }, { repeated }: LineContext): readonly Fields[] {
    return entry.title === null ? [] : [titleLine(entry.title, entry.source, repeated["sessionId"])]
  }

  async #message(
    entry: Entry,
    message: ModelMessage,
    place: Pick<Entry, "id" | "timestamp">,
    context: LineContext,
  ): Promise<readonly Fields[]> {
    switch (message.role) {
      case "system":
        this.#losses.add("system", 1, (n) => `${n} system messages are not in the file: Claude Code has its own.`)
        return []
      case "assistant":
        return this.#assistant(message, place, context)
      case "toolResult":
        return this.#result(message, place, context)
      case "user": {
        const files = (message.attachments ?? []).map((attachment) => ({ ...attachment, type: "file" as const }))
        const content = this.#blocks([...message.content, ...files], false)
        if (content.length === 0) return []
        const isOurs = entry.type !== "message" || entry.message.role !== "user"
        const synthetic = isOurs || message.synthetic === true
        return [userLine([], { role: "user", content, ...(synthetic ? { synthetic } : {}) }, place, {}, context)]
      }
    }
  }

  #result(message: ToolResultMessage, place: Pick<Entry, "id" | "timestamp">, context: LineContext): readonly Fields[] {
    const toolCallId = this.#calls.ofResult(message.toolCallId)
    if (toolCallId === undefined) {
      this.#losses.add("results", 1, (n) => `${n} tool results without a call are not in the file.`)
      return []
    }
    const result = { ...message, toolCallId, content: this.#blocks(message.content, false) }
    return [userLine([result], undefined, place, {}, context)]
  }

  async #assistant(
    message: AssistantMessage,
    place: Pick<Entry, "id" | "timestamp">,
    context: LineContext,
  ): Promise<readonly Fields[]> {
    const blocks = this.#blocks(message.content, message.provider === "anthropic")
    if (blocks.length === 0) return []
    const { content } = fitted({ ...message, content: blocks }, this.#calls, this.#losses)
    const { usage, stopReason } = message
    const isCall = content.some(({ type }) => type === "toolCall")
    const known = {
      ...message,
      content,
      model: message.model ?? NO_MODEL,
      usage: { input: usage?.input ?? 0, output: usage?.output ?? 0, ...usage },
      stopReason:
        stopReason !== undefined && STOP_REASONS.has(stopReason) ? stopReason : isCall ? "tool_use" : "end_turn",
    }
    const entry = { type: "message", parentId: null, seq: 0, ...place, message: known } as const
    // Some agents have a message for each of several calls at once. Claude Code takes only results that follow the message of their call.
    const open = this.#open?.uuid === context.parentUuid ? this.#open?.messageId : undefined
    const messageId = open ?? `msg_${place.id.replaceAll("-", "")}`
    const lines: Fields[] = []
    for (const i of content.keys()) {
      const uuid = i === 0 ? place.id : await uuidOf(`${place.id}/${i}`)
      const line = assistantLine(entry, i, content.length, lines.at(-1)?.["uuid"], {}, context)
      const { message: made, ...rest } = line
      lines.push({ ...rest, uuid, message: { id: messageId, ...(made as Fields) } })
    }
    const isAnswered = message.content.every((block) => block.type !== "toolCall" || this.#answered.has(block.id))
    this.#open = isCall && isAnswered ? { uuid: lines.at(-1)?.["uuid"], messageId } : undefined
    return lines
  }

  /** The blocks that the Anthropic API takes. Thinking is signed by the provider that made it, and refused by others. */
  #blocks(content: readonly ContentBlock[], isAnthropic: boolean): readonly ContentBlock[] {
    return content.flatMap((block): readonly ContentBlock[] => {
      switch (block.type) {
        case "text":
          return block["text"] === "" ? [] : [block]
        case "image":
        case "toolCall":
          return [block]
        case "thinking":
          if (isAnthropic && typeof block["signature"] === "string") return [block]
          this.#losses.add(
            "thinking",
            1,
            (n) => `${n} thinking blocks of other providers, or without a signature, are not in the file.`,
          )
          return []
        case "file":
          this.#losses.add("files", 1, (n) => `${n} attached files are in the file as their paths only.`)
          return [textBlock(`[File: ${block.path}]`)]
        default:
          if (isAnthropic && API_TYPES.has(block.type)) return [block]
          this.#losses.add(
            "blocks",
            1,
            (n) => `${n} blocks of types that Claude Code does not have are not in the file.`,
          )
          return []
      }
    })
  }
}

/** Claude Code leaves lines out whose model is `<synthetic>`, which it writes itself. */
const NO_MODEL = "unknown"

const STOP_REASONS: ReadonlySet<string> = new Set([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
])
