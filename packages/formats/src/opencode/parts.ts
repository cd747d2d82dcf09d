/** Messages as opencode stores them, `{info, parts}`: an assistant's tool parts hold the results of its calls. */
import type { AssistantMessage, ContentBlock, Message, ToolResultMessage } from "@sessions/core"
import type { Losses } from "../base/losses.ts"
import { dataUrlOf, type Fields, fieldsOf, numberOf, textOf } from "../base/values.ts"
import type { AscendingIds } from "./ids.ts"

/** A message while its results may follow. */
export interface Written {
  readonly info: Fields
  readonly parts: Fields[]
}

/** Where messages are written. */
export interface MessagePlace {
  readonly sessionID: string
  readonly cwd: string
  readonly ids: AscendingIds
  readonly losses: Losses
}

export class OpencodeMessages {
  readonly #place: MessagePlace
  /** Calls that have no result yet. */
  readonly #open = new Map<string, { readonly message: Written; readonly at: number }>()
  /** The id of the last user message, which an answer names. */
  #asked: string | undefined
  #model: Fields = { providerID: "unknown", modelID: "unknown" }

  constructor(place: MessagePlace) {
    this.#place = place
  }

  /** A message that opencode wrote; returns its time. Messages that follow get later ids. */
  saw(info: Fields): number {
    if (info["role"] === "user") this.#asked = String(info["id"])
    if (typeof info["providerID"] === "string" && typeof info["modelID"] === "string")
      this.#model = { providerID: info["providerID"], modelID: info["modelID"] }
    const time = fieldsOf(info["time"])
    const last = Math.max(numberOf(time["created"]) ?? 0, numberOf(time["completed"]) ?? 0)
    this.#place.ids.after(last)
    return last
  }

  /** Undefined if nothing of it is left. `isSynthetic`: opencode does not show it to people. */
  user(content: readonly ContentBlock[], time: number, isSynthetic: boolean): Written | undefined {
    const mark = isSynthetic ? { synthetic: true } : {}
    const bodies = content.flatMap((block): readonly Fields[] => {
      if (block.type === "text") return [{ type: "text", text: block.text, ...mark }]
      if (block.type === "image") return [fileOf(block)]
      if (block.type === "file") {
        this.#place.losses.add("files", 1, (n) => `${n} attached files are in the file as their paths only.`)
        return [{ type: "text", text: `[File: ${block.path}]`, ...mark }]
      }
      return this.#lostBlock()
    })
    return bodies.length === 0 ? undefined : this.#userMessage(bodies, time)
  }

  assistant(message: AssistantMessage, time: number): Written | undefined {
    const { provider, model } = message
    if (provider !== undefined && model !== undefined) this.#model = { providerID: provider, modelID: model }
    const bodies = message.content.flatMap((block) => this.#block(block, provider, time))
    if (bodies.length === 0) return undefined
    const isCall = bodies.some(({ type }) => type === "tool")
    const finish = FINISHES.has(message.stopReason ?? "") ? message.stopReason : isCall ? "tool-calls" : "stop"
    const spent = usageOf(message)
    const step = [{ type: "step-start" }, ...bodies, { type: "step-finish", reason: finish, ...spent }]
    const written = this.#answer(step, time, { finish, ...spent })
    for (const [at, part] of written.parts.entries()) {
      if (part["type"] === "tool") this.#open.set(part["callID"] as string, { message: written, at })
    }
    return written
  }

  /** Puts a result into the part of its call. */
  result(result: ToolResultMessage, time: number): Written | undefined {
    const { losses } = this.#place
    const call = this.#open.get(result.toolCallId)
    if (call === undefined) {
      losses.add("results", 1, (n) => `${n} tool results without a call are not in the file.`)
      return undefined
    }
    this.#open.delete(result.toolCallId)
    const part = call.message.parts[call.at] ?? {}
    const { input, time: started } = fieldsOf(part["state"])
    const text = textOf(result.content)
    const times = { start: numberOf(fieldsOf(started)["start"]) ?? time, end: time }
    const images = result.content.filter((block) => block.type === "image")
    const others = result.content.filter(({ type }) => type !== "text" && type !== "image").length
    losses.add("blocks", others + (result.isError ? images.length : 0), lostBlocks)
    const place = { sessionID: this.#place.sessionID, messageID: call.message.info["id"] }
    const attachments = images.map((image) => ({
      id: this.#place.ids.next("prt", time),
      ...place,
      ...fileOf(image),
    }))
    const state = result.isError
      ? { status: "error", input, error: text, time: times }
      : {
          status: "completed",
          input,
          output: text,
          title: "",
          metadata: {},
          time: times,
          ...(attachments.length === 0 ? {} : { attachments }),
        }
    call.message.parts[call.at] = { ...part, state }
    return call.message
  }

  /** A request and its answer, which is the summary. `tail`: the id of the first message that is kept. */
  compaction(summary: string, tail: string | undefined, time: number): readonly Written[] {
    const request = { type: "compaction", auto: false, ...(tail === undefined ? {} : { tail_start_id: tail }) }
    const asked = this.#userMessage([request], time)
    const spent = usageOf({})
    const step = [
      { type: "step-start" },
      { type: "text", text: summary, time: { start: time, end: time } },
      { type: "step-finish", reason: "stop", ...spent },
    ]
    const more = { finish: "stop", summary: true, mode: "compaction", agent: "compaction", ...spent }
    return [asked, this.#answer(step, time, more)]
  }

  #userMessage(bodies: readonly Fields[], time: number): Written {
    const id = this.#place.ids.next("msg", time)
    this.#asked = id
    return this.#message(id, { role: "user", agent: "build", model: this.#model, time: { created: time } }, bodies)
  }

  #answer(bodies: readonly Fields[], time: number, more: Fields): Written {
    const { cwd, ids } = this.#place
    const id = ids.next("msg", time)
    const info = {
      role: "assistant",
      mode: "build",
      agent: "build",
      parentID: this.#asked ?? id,
      ...this.#model,
      path: { cwd, root: "/" },
      time: { created: time, completed: time },
      ...more,
    }
    return this.#message(id, info, bodies)
  }

  #message(id: string, info: Fields, bodies: readonly Fields[]): Written {
    const { sessionID, ids } = this.#place
    const time = fieldsOf(info["time"])["created"] as number
    const parts = bodies.map((body) => ({ ...body, id: ids.next("prt", time), sessionID, messageID: id }))
    return { info: { ...info, id, sessionID }, parts }
  }

  #block(block: ContentBlock, provider: string | undefined, time: number): readonly Fields[] {
    const times = { time: { start: time, end: time } }
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [{ type: "text", text: block.text, ...times }]
      case "thinking": {
        const { signature } = block
        const isSigned = signature !== undefined && provider === "anthropic"
        if (signature !== undefined && !isSigned) this.#place.losses.add("signatures", 1, lostSignatures)
        const metadata = isSigned ? { metadata: { anthropic: { signature } } } : {}
        return [{ type: "reasoning", text: block.thinking, ...metadata, ...times }]
      }
      case "toolCall":
        // opencode sends a call that has no result as an interrupted one.
        return [
          {
            type: "tool",
            callID: block.id,
            tool: block.name,
            state: { status: "running", input: block.arguments, time: { start: time } },
          },
        ]
      default:
        return this.#lostBlock()
    }
  }

  #lostBlock(): readonly [] {
    this.#place.losses.add("blocks", 1, lostBlocks)
    return []
  }
}

const lostBlocks = (n: number): string => `${n} blocks that opencode does not have in their place are not in the file.`
const lostSignatures = (n: number): string => `${n} signatures of thinking are not in the file.`

/** Reasons of the AI SDK, by which opencode decides whether the model goes on. */
const FINISHES: ReadonlySet<string> = new Set(["stop", "length", "content-filter", "tool-calls", "error", "other"])

function fileOf(image: { readonly mimeType: string; readonly data: string }): Fields {
  return { type: "file", mime: image.mimeType, url: dataUrlOf(image) }
}

function usageOf({ usage }: Pick<Message, "usage">): Fields {
  const { input, inputTokens, output, outputTokens, cacheRead, cacheWrite, totalTokens, cost } = fieldsOf(usage)
  const tokens = {
    input: numberOf(input) ?? numberOf(inputTokens) ?? 0,
    output: numberOf(output) ?? numberOf(outputTokens) ?? 0,
    reasoning: 0,
    cache: { read: numberOf(cacheRead) ?? 0, write: numberOf(cacheWrite) ?? 0 },
    ...(numberOf(totalTokens) === undefined ? {} : { total: totalTokens }),
  }
  return { cost: numberOf(cost) ?? numberOf(fieldsOf(cost)["total"]) ?? 0, tokens }
}
