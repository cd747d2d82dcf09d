/** Messages as pi writes them: its code reads their fields without a check, so each one is there. */
import type { AssistantMessage, ContentBlock, Message, ModelMessage, Usage } from "@sessions/core"
import { CallIds, fitted } from "../base/call-ids.ts"
import type { Losses } from "../base/losses.ts"
import { lostResult } from "../base/lost.ts"
import { type Fields, fieldsOf, numberOf, stringOf, textBlock } from "../base/values.ts"

/** Of the APIs that pi sends to: it passes ids and names on, but for characters of ids that one of them refuses. */
const CALLS = { nameLength: 64 }

export class PiMessages {
  readonly #losses: Losses
  readonly #isOwn: boolean
  readonly #calls = new CallIds(CALLS)
  /** Names of tools by the ids of their calls: pi wants the name in each result. */
  readonly #tools = new Map<string, string>()

  /** `isOwn`: the session is of pi, whose messages stay as they are. */
  constructor(losses: Losses, isOwn: boolean) {
    this.#losses = losses
    this.#isOwn = isOwn
  }

  /** Undefined for a message that pi has no role for, or of which nothing is left. `time`: milliseconds. */
  of(given: Message, time: number): Fields | undefined {
    const message = this.#isOwn ? given : fitted(given as ModelMessage, this.#calls, this.#losses)
    const timestamp = numberOf(message["timestamp"]) ?? time
    switch (message.role) {
      case "user": {
        const content = this.content([...(message.content ?? []), ...filesOf(message)])
        return content.length === 0 ? undefined : { ...own(message), content, timestamp }
      }
      case "assistant":
        return this.#assistant(message, timestamp)
      case "toolResult": {
        const { toolCallId } = message
        // pi sends it all the same, and the API of a model refuses it.
        if (!this.#tools.has(toolCallId)) {
          lostResult(this.#losses)
          return undefined
        }
        const toolName = message.toolName ?? this.#tools.get(toolCallId)
        return { ...own(message), toolCallId, toolName, content: this.content(message.content ?? []), timestamp }
      }
      case "bashExecution":
        return { ...own(message), timestamp }
      default:
        this.#losses.add("system", 1, (n) => `${n} system messages are not in the file: pi has its own.`)
        return undefined
    }
  }

  /** Texts and images. */
  content(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
    return blocks.flatMap((block): readonly ContentBlock[] => {
      if (block.type === "text" || block.type === "image") return [block]
      if (block.type === "file") {
        this.#losses.add("files", 1, (n) => `${n} attached files are in the file as their paths only.`)
        return [textBlock(`[File: ${block.path}]`)]
      }
      this.#losses.add("blocks", 1, (n) => `${n} blocks of types that pi does not have are not in the file.`)
      return []
    })
  }

  #assistant(message: AssistantMessage, timestamp: number): Fields {
    const { provider = "unknown", model = "unknown", stopReason } = message
    const content = message.content.flatMap((block) => this.#block(block, provider))
    const hasCall = content.some(({ type }) => type === "toolCall")
    return {
      ...own(message),
      content,
      api: stringOf(message["api"]) ?? APIS[provider] ?? "unknown",
      provider,
      model,
      usage: usageOf(message.usage),
      stopReason: this.#stopReason(stopReason) ?? (hasCall ? "toolUse" : "stop"),
      timestamp,
    }
  }

  #block(block: ContentBlock, provider: string): readonly ContentBlock[] {
    if (block.type === "toolCall") {
      this.#tools.set(block.id, block.name)
      return [block]
    }
    if (block.type !== "thinking") return block.type === "image" ? this.#image() : this.content([block])
    const { signature, ...rest } = block
    if (signature === undefined || rest["thinkingSignature"] !== undefined) return [rest]
    // pi keeps other signatures in forms of its own, and sends thinking without one as text.
    if (provider === "anthropic") return [{ ...rest, thinkingSignature: signature }]
    this.#losses.add("signatures", 1, (n) => `${n} signatures of thinking are not in the file.`)
    return [rest]
  }

  /** pi sends no message that failed or was aborted, but results of its calls. Other agents send what there is of it. */
  #stopReason(reason = ""): string | undefined {
    const known = STOP_REASONS[reason]
    return this.#isOwn || (known !== "error" && known !== "aborted") ? known : undefined
  }

  #image(): readonly ContentBlock[] {
    this.#losses.add("blocks", 1, (n) => `${n} blocks of types that pi does not have are not in the file.`)
    return []
  }
}

function filesOf({ attachments = [] }: Message): readonly ContentBlock[] {
  return attachments.map((attachment) => ({ ...attachment, type: "file" }))
}

/** Fields that pi does not know are kept by it. */
function own(message: Message): Fields {
  const { attachments: _, ...rest } = message
  return rest
}

/** The API that pi uses for a provider, by its name in pi 0.73. */
const APIS: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai",
  mistral: "mistral-conversations",
}

/** Of pi and of the providers' APIs. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  toolUse: "toolUse",
  error: "error",
  aborted: "aborted",
  max_tokens: "length",
}

function usageOf(usage: Usage | undefined): Fields {
  const count = (name: string): number => numberOf(usage?.[name]) ?? 0
  const [input, output] = [count("input") || count("inputTokens"), count("output") || count("outputTokens")]
  const [cacheRead, cacheWrite] = [count("cacheRead"), count("cacheWrite")]
  const total = numberOf(usage?.cost) ?? 0
  return {
    ...usage,
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: numberOf(usage?.totalTokens) ?? input + output + cacheRead + cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total, ...fieldsOf(usage?.cost) },
  }
}
